//! The answers under tests/gpu/host_code/, which are judged on a GPU: what their host code comes to.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use std::path::Path;

use common::plan_of;
use launch_plan::{Launch, LaunchArgument, Operation, Plan};

fn answer(name: &str, n: i64) -> Plan {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gpu/host_code");
    let source = std::fs::read_to_string(folder.join(name)).unwrap();
    plan_of(&source, n).unwrap_or_else(|failure| panic!("{name}: {failure}"))
}

fn launches(plan: &Plan) -> Vec<&Launch> {
    let operations = plan.operations.iter();
    operations
        .filter_map(|operation| match operation {
            Operation::Launch(launch) => Some(launch),
            _ => None,
        })
        .collect()
}

#[test]
fn clusters_and_cooperation_are_in_the_launches() {
    let plan = answer("cluster.cu", 1000);
    let cluster = launches(&plan)[0];
    assert_eq!(
        (cluster.grid, cluster.cluster),
        ([4, 1, 1], Some([4, 1, 1]))
    );
    let plan = answer("cluster_16.cu", 5000);
    let large = launches(&plan)[0];
    assert_eq!((large.grid, large.cluster), ([32, 1, 1], Some([16, 1, 1])));
    let plan = answer("cooperative.cu", 1000);
    let cooperative = launches(&plan)[0];
    assert_eq!(
        (cooperative.grid, cooperative.cooperative),
        ([4, 1, 1], true)
    );
}

#[test]
fn tensor_maps_are_arguments_where_a_box_fits() {
    let plan = answer("tensor_map.cu", 1000);
    let bases: Vec<u64> = launches(&plan)[0]
        .arguments
        .iter()
        .filter_map(|argument| match argument {
            LaunchArgument::TensorMap(map) => Some(map.dimensions[0]),
            _ => None,
        })
        .collect();
    assert_eq!(bases, [1000, 1000]);
    assert_eq!(
        launches(&answer("tensor_map.cu", 255))[0].kernel.0,
        "add_few"
    );
}

#[test]
fn a_captured_graph_runs_twice_and_the_driver_s_kernel_once() {
    let plan = answer("graph.cu", 1000);
    let kernels: Vec<&str> = launches(&plan)
        .iter()
        .map(|l| l.kernel.0.as_str())
        .collect();
    assert_eq!(kernels, ["copy", "add", "copy", "add"]);
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    let plan = answer("driver.cu", 1000);
    assert_eq!(launches(&plan)[0].kernel.0, "add<256>");
    assert_eq!(launches(&plan)[0].dynamic_shared_bytes, 1024);
}

#[test]
fn the_instance_that_the_device_chooses_is_in_no_plan() {
    let live = answer("live_instance.cu", 1000).live.unwrap();
    let kernels: Vec<&str> = live.kernels.iter().map(|k| k.0.as_str()).collect();
    assert_eq!(kernels, ["choose"]);
}
