//! Names that are nearly right.

use domain::misspelling::meant;
use domain::slips::words;

/// Names that host code may mean, the likelier ones first: functions and types of the language, then
/// calls, types and constants of the CUDA runtime and driver. Those that the host interpreter refuses are
/// among them: they are spelt well, and whoever comes to one by a hint is told what to do instead.
const HOST_NAMES: &str = include_str!("names.txt");

/// A name that is unknown, where a known one is near.
pub(super) fn misspelt(message: &str, code: &str) -> Option<String> {
    let unknown = message.ends_with("is not known to the host interpreter")
        || message.starts_with("the call `cu")
        || message.starts_with("values of type `")
        || message.ends_with("and no kernel of that name is in the file");
    let name = message.split('`').nth(1).filter(|_| unknown)?;
    // The driver's headers add these to names.
    let plain = name
        .strip_suffix("_v2")
        .or_else(|| name.strip_suffix("_ptsz"))
        .unwrap_or(name);
    let is_real = HOST_NAMES.lines().any(|known| known == plain);
    let is_word = words(name).eq([name]);
    if is_real || !is_word {
        return None;
    }
    let meant = meant(name, HOST_NAMES.lines().chain(words(code)))?;
    Some(format!("did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::{HOST_NAMES, misspelt};

    /// The names of the runtime that stand as literals in the files of a folder.
    fn quoted_names(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                quoted_names(&path, names);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let quoted = text.split('"').filter(|piece| {
                let rest = piece.strip_prefix("cuda").unwrap_or_default();
                rest.starts_with(|c: char| c.is_ascii_uppercase())
                    && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            });
            names.extend(quoted.map(str::to_owned));
        }
    }

    #[test]
    fn every_name_that_the_interpreter_takes_is_listed_once() {
        let listed: BTreeSet<&str> = HOST_NAMES.lines().collect();
        assert_eq!(listed.len(), HOST_NAMES.lines().count());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/interpreter");
        let mut taken = BTreeSet::new();
        quoted_names(&folder, &mut taken);
        assert!(taken.len() > 200, "{taken:?}");
        // `cudaDevAttr` stands for all that begin so.
        let is_listed = |name: &str| {
            listed
                .range(name..)
                .next()
                .is_some_and(|n| n.starts_with(name))
        };
        let missing: Vec<&String> = taken.iter().filter(|name| !is_listed(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn slips_are_asked_about_and_real_names_are_not() {
        let asked = |name: &str| {
            let message = format!("the call `{name}` is not in the host subset");
            misspelt(&message, "void helper();")
        };
        for (slip, meant) in [
            ("cudaMemcopy", "cudaMemcpy"),
            ("cudaMemcpy3DAsinc", "cudaMemcpy3DAsync"),
            ("cudaStreamBeginCaptur", "cudaStreamBeginCapture"),
            ("cudaMalocFromPoolAsync", "cudaMallocFromPoolAsync"),
            (
                "cudaOccupancyMaxActiveBlocksPerMultiProcesor",
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
            ),
            ("cuMemAlocAsync", "cuMemAllocAsync"),
        ] {
            let expected = Some(format!("did you mean `{meant}`?"));
            assert_eq!(asked(slip), expected, "{slip}");
        }
        for real in [
            "cudaMemcpy2DToArray",
            "cudaGraphAddKernelNode",
            "cudaLaunchHostFunc",
            "cuMemGetInfo_v2",
        ] {
            assert_eq!(asked(real), None, "{real}");
        }
    }
}
