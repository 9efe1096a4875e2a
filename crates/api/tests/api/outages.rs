//! Health, and what callers are told when something of ours is broken.

use protocol::routes;

use crate::support::Context;

#[tokio::test]
async fn a_sound_service_is_alive_and_ready() {
    let ctx = Context::start().await;
    for path in [routes::HEALTHZ, routes::READYZ] {
        let health = ctx.get(path).send().await.expect_status(200);
        assert_eq!(health.json()["status"], "ok");
    }
    ctx.end().await;
}

#[tokio::test]
async fn a_database_that_lacks_migrations_is_not_ready() {
    let ctx = Context::start().await;
    let newest = "DELETE FROM _sqlx_migrations
                  WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    assert_eq!(ctx.test().execute(newest).await.unwrap(), 1);
    ctx.get(routes::HEALTHZ).send().await.expect_status(200);
    let ready = ctx.get(routes::READYZ).send().await;
    assert_eq!(ready.problem(), "503 unavailable");
    ctx.end().await;
}

#[tokio::test]
async fn an_unreachable_database_is_503_without_internal_text() {
    let ctx = Context::start().await;
    ctx.db().close().await;
    ctx.get(routes::HEALTHZ).send().await.expect_status(200);
    for path in [routes::READYZ, routes::PROBLEMS] {
        let answer = ctx.get(path).send().await;
        assert_eq!(answer.problem(), "503 unavailable");
        assert!(!answer.text().contains("pool"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_fault_of_ours_is_500_without_internal_text() {
    let ctx = Context::start().await;
    ctx.test()
        .execute("ALTER TABLE submissions RENAME TO elsewhere")
        .await
        .unwrap();
    let answer = ctx.get(routes::PROBLEMS).send().await;
    assert_eq!(answer.problem(), "500 internal");
    for internal in ["submissions", "relation", "SELECT"] {
        assert!(!answer.text().contains(internal), "{}", answer.text());
    }
}
