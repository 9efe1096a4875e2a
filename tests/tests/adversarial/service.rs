//! A server and a worker that are sent hostile input live on and judge the next submission right.

use end_to_end::answers::{CRASH, HOST, KERNEL};
use end_to_end::rig::Rig;
use serde_json::json;

#[tokio::test]
async fn bad_input_is_refused_before_any_judging() {
    let rig = Rig::start().await;
    let submit = |problem: &str, device: &str, source: String| {
        let body = json!({"problem": problem, "device": device, "source": source});
        let rig = &rig;
        async move {
            rig.call("POST", protocol::routes::SUBMISSIONS, Some(&body))
                .await
        }
    };
    for (problem, device, source, status, code) in [
        (
            "vector_add",
            "emulated",
            String::new(),
            422,
            "invalid_source",
        ),
        (
            "vector_add",
            "emulated",
            "a\0b".to_owned(),
            422,
            "invalid_source",
        ),
        (
            "vector_add",
            "emulated",
            " ".repeat(300 * 1024),
            413,
            "source_too_large",
        ),
        (
            "no_such_problem",
            "emulated",
            "x".to_owned(),
            404,
            "unknown_problem",
        ),
        (
            "vector_add",
            "abacus",
            "x".to_owned(),
            404,
            "unknown_device",
        ),
    ] {
        let (got, answer) = submit(problem, device, source).await;
        assert_eq!(
            (got, answer["code"].as_str()),
            (status, Some(code)),
            "{answer}"
        );
        assert!(
            answer["detail"].is_string() && answer["request_id"].is_string(),
            "{answer}"
        );
    }
    rig.assert_sound().await;
}

#[tokio::test]
async fn a_worker_lives_through_hostile_submissions() {
    let mut rig = Rig::start().await;
    let _worker = rig.worker();
    let host = HOST;
    for (kernel, verdict) in [
        (
            "__global__ void add(const float* a, const float* b, float* c, int n) { while (true) c[0] += 1; }",
            "time_limit",
        ),
        (
            "__global__ void add(const float* a, const float* b, float* c, int n) { c[-1] = 0; }",
            "runtime_error",
        ),
        (
            &format!("#include \"/etc/passwd\"\n{KERNEL}"),
            "compile_error",
        ),
        (KERNEL, "accepted"),
    ] {
        let submission = rig.submit("vector_add", &format!("{kernel}\n{host}")).await;
        let done = rig.finished(submission).await;
        assert_eq!(done["verdict"], verdict, "{kernel}: {done}");
    }
    rig.assert_sound().await;
}

#[tokio::test]
async fn a_worker_lives_through_hostile_compiles() {
    let mut rig = Rig::start().await;
    let _worker = rig.worker();
    let answer = format!("{KERNEL}{HOST}");
    let types: String = (1..27)
        .map(|level| format!("typedef P<T{0}, T{0}> T{level};\n", level - 1))
        .collect();
    let long = format!(
        "template <class A, class B> struct P {{}};\ntypedef P<int, int> T0;\n{types}__device__ T26 x = 1;"
    );
    for (source, verdict) in [
        (CRASH.to_owned(), "compile_error compiler_crash"),
        (
            format!("#include \"/dev/zero\"\n{answer}"),
            "compile_error diagnostics",
        ),
        (format!("{long}\n{answer}"), "compile_error"),
        (
            format!(
                "constexpr int f() {{ int i = 0; while (true) i ^= 1; return i; }}\n__device__ int boom[f()];\n{answer}"
            ),
            "compile_error",
        ),
        (CRASH.to_owned(), "compile_error compiler_crash"),
        (answer.clone(), "accepted "),
    ] {
        let submission = rig.submit("vector_add", &source).await;
        let done = rig.finished(submission).await;
        let word = |field: &str| done[field].as_str().unwrap_or_default().to_owned();
        let told = format!("{} {}", word("verdict"), word("kind"));
        assert!(told.starts_with(verdict), "{told}: {source}: {done}");
    }
    rig.assert_sound().await;
}
