//! Every experiment goes through all its motions on the emulated device, which measures nothing but runs
//! what it is given.

use super::{ALL, Cell, run};
use crate::compile::wire::KernelSet;
use crate::measuring::pretend::rig;

/// Instructions that the emulated device lacks, and the experiment that needs them.
const NOT_EMULATED: [&str; 1] = ["evict_last"];

#[test]
fn every_experiment_makes_its_table() {
    for experiment in ALL {
        let outcome = run(experiment.name, &mut rig(KernelSet::Experiments));
        let table = match outcome {
            Ok(table) => table,
            Err(why) if NOT_EMULATED.contains(&experiment.name) => {
                assert!(why.contains("does not support"), "{why}");
                continue;
            }
            Err(why) => panic!("{}: {why}", experiment.name),
        };
        assert!(!table.rows.is_empty(), "{}", experiment.name);
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}", experiment.name);
            let is_number = |cell: &Cell| matches!(cell, Cell::Number(n) if n.is_finite());
            assert!(row.iter().any(is_number), "{}: {row:?}", experiment.name);
        }
    }
}

#[test]
fn an_unknown_experiment_is_told_with_those_that_exist() {
    let refused = run("flushh", &mut rig(KernelSet::Experiments)).unwrap_err();
    assert!(
        refused.contains("`flushh`") && refused.contains("warm_up"),
        "{refused}"
    );
}

/// The profiler's script counts launches by name: nothing else may be launched under such a name.
#[test]
fn rows_of_the_profilers_table_tell_their_launches() {
    let table = run("ncu", &mut rig(KernelSet::Experiments)).unwrap();
    let columns: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(columns[1..4], ["kernel", "n", "span us"]);
    assert!(table.rows.iter().all(|row| row[2] == Cell::Number(2.0)));
}
