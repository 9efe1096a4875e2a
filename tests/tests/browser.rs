//! A real browser against a real service. The steps are in `tests/browser/`; this starts what they need.

use std::process::Command;

use database::{accounts, sessions};
use domain::{Clock, SystemClock};
use end_to_end::rig::Rig;
use end_to_end::root;
use protocol::{routes, timing};

#[tokio::test]
async fn chromium_submits_right_and_wrong_kernels() {
    let mut rig = Rig::start().await;
    let _worker = rig.worker();
    let now = SystemClock::default().now();
    let db = &rig.database.db;
    let user = accounts::ensure_local_user(db, "tester", now)
        .await
        .unwrap();
    let code = sessions::mint_login_code(db, user, timing::LOGIN_CODE)
        .await
        .unwrap();

    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=spec"])
        .arg(root().join("tests/browser/submit.test.js"))
        .env("LIGHTSPEED_ROOT", root())
        .env("LIGHTSPEED_URL", &rig.url)
        .env(
            "LIGHTSPEED_LOGIN_PATH",
            format!("{}?code={code}", routes::LOGIN),
        );
    let output = tokio::task::spawn_blocking(move || node.output())
        .await
        .unwrap();
    let output = output.expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}\n{}\n{}",
        String::from_utf8_lossy(&output.stderr),
        rig.logs()
    );
    rig.assert_sound().await;
}
