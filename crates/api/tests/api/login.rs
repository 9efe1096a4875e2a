//! The login link and the session it makes.

use axum::http::Method;
use database::sessions::mint_login_code;
use protocol::routes;
use protocol::timing;

use crate::support::{Answer, Call, Context, KERNEL, secs};

async fn open(ctx: &Context, code: &str) -> Answer {
    ctx.get(&format!("{}?code={code}", routes::LOGIN))
        .send()
        .await
}

async fn code(ctx: &Context) -> String {
    mint_login_code(ctx.db(), ctx.alice.id, timing::LOGIN_CODE)
        .await
        .unwrap()
}

fn session(answer: &Answer) -> String {
    let cookie = answer.header("set-cookie");
    let value = cookie.strip_prefix("lightspeed_session=").unwrap();
    value.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_signs_in_once() {
    let ctx = Context::start().await;
    let code = code(&ctx).await;
    let answer = open(&ctx, &code).await.expect_status(303);
    assert_eq!(answer.header("location"), "/");
    let cookie = answer.header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    let me = ctx.get(routes::ME).session(&session(&answer)).send().await;
    assert_eq!(me.expect_status(200).json()["name"], "alice");

    let again = open(&ctx, &code).await.expect_status(403);
    assert_eq!(again.header("set-cookie"), "");
    assert!(
        again.text().contains("no longer valid"),
        "a page for people"
    );
    ctx.end().await;
}

#[tokio::test]
async fn a_previewer_that_asks_with_head_does_not_use_the_link_up() {
    let ctx = Context::start().await;
    let code = code(&ctx).await;
    let path = format!("{}?code={code}", routes::LOGIN);
    let previewed = Call::new(&ctx, Method::HEAD, &path)
        .send()
        .await
        .expect_status(204);
    assert_eq!(previewed.header("set-cookie"), "");
    open(&ctx, &code).await.expect_status(303);
    ctx.end().await;
}

#[tokio::test]
async fn a_link_lives_ten_minutes() {
    let ctx = Context::start().await;
    let (early, late) = (code(&ctx).await, code(&ctx).await);
    ctx.test().advance(secs(599)).await;
    open(&ctx, &early).await.expect_status(303);
    ctx.test().advance(secs(2)).await;
    open(&ctx, &late).await.expect_status(403);
    open(&ctx, "").await.expect_status(403);
    ctx.end().await;
}

#[tokio::test]
async fn a_session_ends_by_logout_and_by_time() {
    let ctx = Context::start().await;
    let answer = open(&ctx, &code(&ctx).await).await;
    let mine = session(&answer);
    ctx.post(routes::LOGOUT)
        .session(&mine)
        .origin("http://judge.test")
        .send()
        .await
        .expect_status(204);
    let me = ctx.get(routes::ME).session(&mine).send().await;
    assert_eq!(me.problem(), "401 unauthenticated");

    let mine = session(&open(&ctx, &code(&ctx).await).await);
    ctx.test().advance(timing::SESSION).await;
    let me = ctx.get(routes::ME).session(&mine).send().await;
    assert_eq!(me.problem(), "401 unauthenticated");
    ctx.end().await;
}

#[tokio::test]
async fn a_change_by_cookie_must_come_from_this_site() {
    let ctx = Context::start().await;
    let mine = session(&open(&ctx, &code(&ctx).await).await);
    let submit = || {
        ctx.post(routes::SUBMISSIONS)
            .session(&mine)
            .json(&serde_json::json!({
                "problem": "vector_add", "device": "emulated", "source": KERNEL,
            }))
    };
    let answers = [
        submit().send().await,
        submit().origin("https://evil.test").send().await,
        submit().origin("null").send().await,
    ];
    for answer in answers {
        assert_eq!(answer.problem(), "403 cross_origin");
    }
    submit()
        .origin("http://judge.test")
        .send()
        .await
        .expect_status(201);
    ctx.end().await;
}
