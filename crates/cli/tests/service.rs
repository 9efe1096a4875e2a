//! The verbs that talk to a service, against one that `up` runs: private database, local worker,
//! emulated device. The compiler comes from LIGHTSPEED_TOOLCHAIN, or is installed.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const KERNEL: &str = r#"__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" void solve(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"#;

/// Time for a database to be made and a worker to register.
const PATIENCE: Duration = Duration::from_secs(120);

/// A service of its own, taken down with the value.
struct Service {
    folder: tempfile::TempDir,
    up: Child,
}

impl Service {
    /// Returns once a worker offers the emulated device.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.cu"), KERNEL).unwrap();
        let up = lightspeed(folder.path())
            .args(["up", "--device", "emulated", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let service = Self { folder, up };
        let begun = Instant::now();
        while json(&service.run(&["status", "--json"]))["live_workers"] != 1 {
            assert!(begun.elapsed() < PATIENCE, "no worker came up");
            std::thread::sleep(Duration::from_millis(200));
        }
        service
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = lightspeed(self.folder.path());
        command.args(arguments).output().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.run(&["down"]);
        let _ = self.up.wait();
    }
}

fn lightspeed(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lightspeed"));
    for name in ["URL", "TOKEN", "DEVICE", "WORKER_KEY", "LISTEN", "WEB"] {
        command.env_remove(format!("LIGHTSPEED_{name}"));
    }
    let problems = format!("{}/../../problems", env!("CARGO_MANIFEST_DIR"));
    command
        .env("LIGHTSPEED_STATE", folder.join("state"))
        .env("LIGHTSPEED_PROBLEMS", problems)
        .env_remove("DATABASE_URL")
        .current_dir(folder);
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_submission_that_waits_is_told_of_listed_and_cancelled() {
    let service = Service::start();

    let submitted = service.run(&[
        "submit",
        "vector_add",
        "k.cu",
        "--device",
        "h200",
        "--no-watch",
    ]);
    assert_eq!(submitted.status.code(), Some(0), "{}", stderr(&submitted));
    let id = stdout(&submitted).trim().to_owned();
    let said = "no worker offers `h200` now (workers offer: emulated)";
    assert!(stderr(&submitted).contains(said), "{}", stderr(&submitted));
    let way_out = format!("lightspeed cancel {id}");
    assert!(
        stderr(&submitted).contains(&way_out),
        "{}",
        stderr(&submitted)
    );

    let keeping = ["--keep-code", "code", "--json"];
    let judged = service.run(&[&["submit", "vector_add", "k.cu"][..], &keeping].concat());
    assert_eq!(judged.status.code(), Some(0), "{}", stderr(&judged));
    assert_eq!(json(&judged)["verdict"], "accepted");
    code_of_a_submission_is_shown(&service, &json(&judged));
    assert!(
        !stderr(&judged).contains("no worker"),
        "{}",
        stderr(&judged)
    );

    let list = json(&service.run(&["submissions", "--json"]));
    assert_eq!(list["submissions"][0]["verdict"], "accepted");
    assert_eq!(list["submissions"][1]["submission_id"], *id);
    assert_eq!(list["submissions"][1]["status"], "queued");
    let newest = service.run(&["submissions", "--limit", "1"]);
    assert!(stdout(&newest).contains("accepted"), "{}", stdout(&newest));
    assert!(
        stdout(&newest).contains("there are more"),
        "{}",
        stdout(&newest)
    );
    let others = service.run(&["submissions", "--problem", "matmul"]);
    assert!(stdout(&others).contains("no submissions to `matmul`"));

    let cancelled = service.run(&["cancel", &id, "--json"]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    assert_eq!(json(&cancelled)["verdict"], "cancelled");
    let again = service.run(&["cancel", &id, "--json"]);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(json(&again)["error"]["code"], "already_done");

    let misspelt = service.run(&["submit", "vector_ad", "k.cu", "--json"]);
    assert_eq!(misspelt.status.code(), Some(2));
    let error = &json(&misspelt)["error"];
    assert_eq!(error["code"], "unknown_problem");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.starts_with("did you mean `vector_add`?"), "{hint}");

    let problems = service.run(&["problem", "list"]);
    assert!(
        stdout(&problems).contains("judged now on"),
        "{}",
        stdout(&problems)
    );
    assert!(!stdout(&problems).contains("h200"), "{}", stdout(&problems));

    let second = service.run(&["up", "--listen", "127.0.0.1:9"]);
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    let said = "so --listen had no effect: stop it with `down`, then `up` again";
    assert!(stderr(&second).contains(said), "{}", stderr(&second));
}

/// `submit --keep-code` wrote it, and `code` shows it under the lines of the source.
fn code_of_a_submission_is_shown(service: &Service, judging: &Value) {
    let id = judging["submission_id"].as_str().unwrap();
    let ptx = std::fs::read_to_string(service.folder.path().join("code/code.ptx")).unwrap();
    let (_, after) = ptx
        .split_once("// 3: if (i < n) c[i] = a[i] + b[i];\n")
        .unwrap();
    assert!(after.contains("st.global.f32"), "{ptx}");

    let shown = service.run(&["code", id, "--kernel", "add"]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let shown = stdout(&shown);
    assert!(shown.starts_with("// kernel add\n"), "{shown}");
    assert!(ptx.starts_with(shown.trim_end()), "{shown}");

    let document = json(&service.run(&["code", id, "--json"]));
    assert_eq!(document["judging_id"], judging["judging_id"]);
    let kernel = &document["ptx"]["parts"][0];
    assert_eq!(kernel["name"], "add");
    let lines = kernel["text"].as_str().unwrap().lines();
    let from = kernel["source_lines"].as_array().unwrap();
    let store = lines.zip(from).find(|(line, _)| line.contains("st.global"));
    assert_eq!(*store.unwrap().1, 3);

    let sass = std::fs::read_to_string(service.folder.path().join("code/code.sass")).unwrap();
    let (_, after) = sass
        .split_once("// 3: if (i < n) c[i] = a[i] + b[i];\n")
        .unwrap();
    assert!(after.contains("STG.E"), "{sass}");
    let shown = service.run(&["code", id, "--sass", "--kernel", "add"]);
    assert_eq!(stdout(&shown), sass, "{}", stderr(&shown));
    assert_eq!(document["sass"]["parts"][0]["name"], "add");

    let misspelt = service.run(&["code", id, "--kernel", "ad", "--json"]);
    let hint = json(&misspelt)["error"]["hint"].to_string();
    assert!(hint.contains("it has: add"), "{hint}");
}

/// Each line of a batch is a report that also says what it is of.
#[test]
fn lines_of_a_batch_carry_file_and_round() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("right.cu"), KERNEL).unwrap();
    let wrong = KERNEL.replace("a[i] + b[i]", "a[i] - b[i]");
    std::fs::write(folder.path().join("wrong.cu"), wrong).unwrap();
    let output = lightspeed(folder.path())
        .args(["judge", "vector_add", "right.cu", "wrong.cu"])
        .args(["--device", "emulated", "--batch", "--repeat", "2", "--json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let file = line["file"].as_str().unwrap();
            let verdict = line["verdict"].as_str().unwrap();
            (file, line["round"].as_u64().unwrap(), verdict)
        })
        .collect();
    let expected = [
        ("right.cu", 1, "accepted"),
        ("wrong.cu", 1, "wrong_answer"),
        ("right.cu", 2, "accepted"),
        ("wrong.cu", 2, "wrong_answer"),
    ];
    assert_eq!(told, expected);
    assert_eq!(lines[0]["schema"], "lightspeed.report/1");
    let said = stderr(&output);
    assert!(said.contains("wrong.cu, round 2 of 2: "), "{said}");
}

#[test]
fn an_interrupted_batch_prints_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.cu"), KERNEL).unwrap();
    let mut batch = lightspeed(folder.path())
        .args(["judge", "vector_add", "k.cu", "--device", "emulated"])
        .args(["--batch", "--repeat", "2", "--pause-s", "600"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second round waits ten minutes for its turn.
    let mut said = BufReader::new(batch.stderr.take().unwrap()).lines();
    let is_over = |line: std::io::Result<String>| line.unwrap() == "k.cu, round 1 of 2: accepted";
    assert!(said.any(is_over), "the first round comes to its verdict");
    let pid = batch.id().to_string();
    let told = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(told.success());
    let output = batch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let table = stdout(&output);
    assert_eq!(table.lines().count(), 2, "{table}");
    assert!(table.contains("accepted"), "{table}");
}

/// What no shape reached has no number, in either form.
#[test]
fn shapes_that_did_not_run_have_no_launches() {
    let folder = tempfile::tempdir().unwrap();
    let endless = KERNEL.replace("if (i < n)", "while (i < n)");
    std::fs::write(folder.path().join("k.cu"), endless).unwrap();
    let judge = |more: &[&str]| {
        let mut command = lightspeed(folder.path());
        command.args(["judge", "vector_add", "k.cu", "--device", "emulated"]);
        command.args(more).output().unwrap()
    };
    let report = json(&judge(&["--json"]));
    assert_eq!(report["verdict"], "time_limit");
    let shapes = report["shapes"].as_array().unwrap();
    assert!(shapes.len() > 1);
    for shape in shapes.iter().filter(|shape| shape["verdict"].is_null()) {
        assert_eq!(shape["launches"], Value::Null, "{shape}");
    }
    assert_eq!(report["phases_s"]["execute"], Value::Null);
    let message = report["message"].as_str().unwrap();
    let counted = "warp instructions of the launch (an instruction counts once for a warp, \
                   however many of its threads take part); \
                   all launches of a shape together may issue 25000000";
    assert!(message.contains(counted), "{message}");
    let text = stdout(&judge(&[]));
    let unrun = text.lines().filter(|line| line.trim_end().ends_with(" -"));
    assert_eq!(unrun.count(), shapes.len() - 1, "{text}");
}

/// Outputs hold no zeros before a call: whoever adds to one is told so beside the values.
#[test]
fn a_sum_into_an_output_that_was_not_set_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let sum = |first: &str| {
        format!(
            "__global__ void sum(const float* x, float* y, int n) {{\n\
             int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) atomicAdd(y, x[i]);\n}}\n\
             void solve(const float* x, float* y, int n) {{\n{first}\n\
             sum<<<(n + 255) / 256, 256>>>(x, y, n);\n}}\n"
        )
    };
    std::fs::write(folder.path().join("unset.cu"), sum("")).unwrap();
    let set = sum("cudaMemset(y, 0, sizeof(float));");
    std::fs::write(folder.path().join("set.cu"), set).unwrap();
    let judge = |arguments: &[&str]| {
        let mut command = lightspeed(folder.path());
        command.args(["judge", "reduction", "--device", "emulated"]);
        command.args(arguments).output().unwrap()
    };
    let report = json(&judge(&["unset.cu", "--json"]));
    assert_eq!(report["verdict"], "wrong_answer");
    let shapes = report["shapes"].as_array().unwrap();
    let one = &shapes[0]["mismatches"][0];
    assert_eq!(one["first"][0]["actual"], "NaN");
    for shape in shapes {
        assert_eq!(shape["mismatches"][0]["likely_cause"], "output_not_set");
        assert_eq!(shape["traffic_efficiency"], Value::Null, "{shape}");
    }
    let text = stdout(&judge(&["unset.cu"]));
    let way_out = "hint: outputs hold no zeros before a call. If a kernel adds to output (atomicAdd, +=), \
                   set it first: cudaMemset(output, 0, bytes), or store instead of adding";
    assert!(text.contains(way_out), "{text}");

    // The second judging of a source takes its code from the first, and not its time.
    for (compiled, arguments) in [(true, ["set.cu", "--json"]), (false, ["set.cu", "--json"])] {
        let report = json(&judge(&arguments));
        let phase = |name: &str| report["phases_s"][name].as_f64();
        assert_eq!(phase("compile").is_some(), compiled, "{report}");
        let parts = ["plan", "compile", "execute", "check", "overhead"];
        let sum: f64 = parts.iter().filter_map(|part| phase(part)).sum();
        assert!(sum <= phase("total").unwrap() + 1e-6, "{report}");
    }
}
