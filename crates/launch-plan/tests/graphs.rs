//! Answers that capture their own graph.
#![allow(clippy::unwrap_used, missing_docs)] // a step that fails fails the test

mod common;

use common::{BODY_LINE, failure_of, plan_of, plan_text, with_body};

/// A capture of `captured`, instantiated, then `after` with `exec` in its hand.
fn captured(captured: &str, after: &str) -> String {
    format!(
        "cudaStream_t s; cudaStreamCreate(&s); cudaGraph_t graph; cudaGraphExec_t exec;\n\
         cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);\n\
         {captured}\n\
         cudaStreamEndCapture(s, &graph);\n\
         cudaGraphInstantiate(&exec, graph, NULL, NULL, 0);\n\
         {after}\n\
         cudaStreamSynchronize(s); cudaGraphExecDestroy(exec); cudaGraphDestroy(graph);"
    )
}

#[test]
fn what_is_captured_runs_when_its_graph_is_launched_and_as_often() {
    let body = captured(
        "cudaMemsetAsync(C, 0, 64, s); one<<<2, 32, 0, s>>>(C, N);\n\
         cudaMemcpyAsync(C, A, 16, cudaMemcpyDeviceToDevice, s);",
        "k<<<1, 32, 0, s>>>(A, B, C, N);\n\
         for (int i = 0; i < 2; ++i) cudaGraphLaunch(exec, s);",
    );
    let graph = "memset p2 0 64\none <2x1x1, 32x1x1, 0> (p2, 100)\ncopy p2 p0 16";
    assert_eq!(
        plan_text(&body, 100),
        format!("k <1x1x1, 32x1x1, 0> (p0, p1, p2, 100)\n{graph}\n{graph}")
    );
    // CUDA 12's form, and the one with flags.
    let three = body.replace("graph, NULL, NULL, 0)", "graph, 0)");
    assert_eq!(plan_text(&three, 100), plan_text(&body, 100));
}

#[test]
fn host_memory_is_read_when_the_graph_is_launched() {
    let body = captured(
        "int h[1] = {1}; cudaMemcpyAsync(C, h, 4, cudaMemcpyHostToDevice, s);",
        "cudaGraphLaunch(exec, s); h[0] = 2; cudaGraphLaunch(exec, s);",
    );
    assert_eq!(
        plan_text(&body, 100),
        "upload p2 [1, 0, 0, 0]\nupload p2 [2, 0, 0, 0]"
    );
}

#[test]
fn memory_of_a_graph_serves_every_launch_of_it() {
    let body = captured(
        "float* t; cudaMallocAsync(&t, 64, s); one<<<1, 32, 0, s>>>(t, N); cudaFreeAsync(t, s);",
        "cudaGraphLaunch(exec, s); cudaGraphLaunch(exec, s);",
    );
    let plan = plan_of(&with_body(&body), 8).unwrap();
    let launch = "one <1x1x1, 32x1x1, 0> (s0, 8)";
    assert_eq!(
        common::text(&plan),
        format!("s0 = alloc 64\n{launch}\n{launch}")
    );
    assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
}

#[test]
fn an_executable_graph_can_be_updated_from_another_capture() {
    let body = captured("one<<<1, 32, 0, s>>>(C, N);", "cudaGraphLaunch(exec, s);")
        + "\ncudaGraph_t other; cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);\n\
           one<<<7, 32, 0, s>>>(C, N); cudaStreamEndCapture(s, &other);\n\
           cudaGraphExecUpdateResult result;\n\
           cudaGraphExecUpdate(exec, other, nullptr, &result); cudaGraphLaunch(exec, s);";
    assert_eq!(
        plan_text(&body, 8),
        "one <1x1x1, 32x1x1, 0> (p2, 8)\none <7x1x1, 32x1x1, 0> (p2, 8)"
    );
}

#[test]
fn whether_a_stream_captures_can_be_asked() {
    let body = captured(
        "cudaStreamCaptureStatus status; cudaStreamIsCapturing(s, &status);\n\
         if (status == cudaStreamCaptureStatusActive) one<<<1, 32, 0, s>>>(C, N);",
        "cudaStreamIsCapturing(s, &status);\n\
         if (status == cudaStreamCaptureStatusNone && exec != nullptr) cudaGraphLaunch(exec, s);",
    );
    assert_eq!(plan_text(&body, 8), "one <1x1x1, 32x1x1, 0> (p2, 8)");
}

#[test]
fn a_graph_that_is_never_launched_and_a_capture_that_never_ends_are_told() {
    let message = |body: &str| {
        let plan = plan_of(&with_body(body), 8).unwrap();
        assert_eq!(plan.launch_count(), 0);
        let [warning] = &plan.warnings[..] else {
            panic!("{:?}", plan.warnings)
        };
        assert_eq!(warning.line, Some(BODY_LINE + 1));
        warning.message.clone()
    };
    let unused = message(&captured("one<<<1, 32, 0, s>>>(C, N);", ""));
    assert!(unused.contains("is never launched"), "{unused}");
    let open = message(
        "cudaStream_t s = 0;\ncudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);\none<<<1, 32, 0, s>>>(C, N);",
    );
    assert!(open.contains("never ended"), "{open}");
}

#[test]
fn captures_that_the_runtime_would_refuse_are_refused() {
    let begin = "cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);\n";
    let (kind, line, _, message, _) = failure_of(&format!("{begin}{begin}"), 8);
    assert_eq!((kind.as_str(), line), ("host_fault", BODY_LINE + 1));
    assert_eq!(
        message,
        format!("a capture is begun while that of line {BODY_LINE} is under way")
    );
    let (_, _, _, message, hint) = failure_of("cudaGraph_t g; cudaStreamEndCapture(0, &g);", 8);
    assert_eq!(message, "no capture is under way");
    assert!(hint.contains("cudaStreamBeginCapture"), "{hint}");
    let (_, _, _, message, _) = failure_of("cudaGraphExec_t e = 0; cudaGraphLaunch(e, 0);", 8);
    assert_eq!(message, "this handle is of no graph that was captured");
    let freed = captured(
        "one<<<1, 32, 0, s>>>(t, N);",
        "cudaFree(t); cudaGraphLaunch(exec, s);",
    );
    let (kind, _, _, message, _) =
        failure_of(&format!("float* t; cudaMalloc(&t, 64);\n{freed}"), 8);
    assert_eq!(kind, "host_fault");
    assert!(message.contains("is used after line"), "{message}");
}

#[test]
fn graphs_that_are_built_node_by_node_are_refused_with_the_way_out() {
    let (kind, _, _, message, hint) = failure_of("cudaGraph_t g; cudaGraphCreate(&g, 0);", 8);
    assert_eq!(kind, "unsupported_construct");
    assert!(message.contains("node by node"), "{message}");
    assert!(hint.contains("cudaStreamBeginCapture"), "{hint}");
}

#[test]
fn launches_of_a_graph_count_against_the_limit() {
    let body = captured(
        "for (int i = 0; i < 100; ++i) one<<<1, 32, 0, s>>>(C, N);",
        "for (int i = 0; i < 50; ++i) cudaGraphLaunch(exec, s);",
    );
    let (kind, _, _, message, _) = failure_of(&body, 8);
    assert_eq!(kind, "fuel");
    assert_eq!(message, "the plan has more than 4096 kernel launches");
}
