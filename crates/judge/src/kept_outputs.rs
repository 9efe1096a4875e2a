//! The outputs of a submission in files, for whoever compares devices. A worker never asks for them.

use std::path::Path;

use sandbox::Mailbox;

use crate::wire::{ParameterJob, ShapeJob, mailbox_slots};

/// Writes `SHAPE.TENSOR.bin` for each output of a run that went well: elements as they lie in memory.
/// Tells what could not be written.
pub(crate) fn write(folder: &Path, shape: &ShapeJob, outputs: &Mailbox) -> Vec<String> {
    let slots = mailbox_slots(&shape.parameters);
    let mut failures = Vec::new();
    for (parameter, slot) in shape.parameters.iter().zip(slots) {
        let (ParameterJob::Tensor { spec, .. }, Some(slot)) = (parameter, slot) else {
            continue;
        };
        let file = folder.join(format!("{}.{}.bin", shape.id, spec.name));
        let kept = match outputs.read(slot.start, slot.len()) {
            Some(bytes) => std::fs::write(&file, bytes).map_err(|error| error.to_string()),
            None => Err("the mailbox is too small".to_owned()),
        };
        if let Err(error) = kept {
            failures.push(format!("{} is not kept: {error}", file.display()));
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use domain::{Direction, ElementType};
    use launch_plan::Plan;

    use super::*;
    use crate::host_code::HostWork;
    use crate::test_support::vector;

    /// An input, then outputs of 5 and 3 bytes; the second lies at the next 256 bytes.
    fn shape() -> ShapeJob {
        let tensor = |name, direction, elements| ParameterJob::Tensor {
            spec: vector(name, ElementType::U8, direction, elements, None),
            slack: 0.0,
        };
        ShapeJob {
            id: "small".to_owned(),
            parameters: vec![
                tensor("x", Direction::In, 7),
                tensor("y", Direction::Out, 5),
                ParameterJob::Scalar,
                tensor("z", Direction::Inout, 3),
            ],
            work: HostWork::Planned(Plan::default()),
        }
    }

    #[test]
    fn each_output_is_in_a_file_of_its_own() {
        let mut mailbox = Mailbox::create(259).unwrap();
        mailbox.fill(0, 5, |slot| slot.copy_from_slice(b"first"));
        mailbox.fill(256, 3, |slot| slot.copy_from_slice(b"2nd"));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(folder.path(), &shape(), &mailbox), [""; 0]);
        let kept = |name: &str| std::fs::read(folder.path().join(name)).ok();
        assert_eq!(kept("small.y.bin").unwrap(), b"first");
        assert_eq!(kept("small.z.bin").unwrap(), b"2nd");
        assert_eq!(kept("small.x.bin"), None);
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_of() {
        let mailbox = Mailbox::create(259).unwrap();
        let failures = write(Path::new("/nowhere/at/all"), &shape(), &mailbox);
        assert_eq!(failures.len(), 2);
        assert!(failures[0].starts_with("/nowhere/at/all/small.y.bin is not kept"));
    }
}
