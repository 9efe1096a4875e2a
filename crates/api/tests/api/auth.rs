//! The golden list: every endpoint of the document, and who may call it.

use axum::http::Method;
use database::sessions::{mint_login_code, redeem_login_code};
use insta::assert_snapshot;
use protocol::timing;

use crate::support::{Call, Context};

/// Some id of every kind; nothing has it.
const NOBODYS: &str = "0190b5a0-0000-7000-8000-000000000001";

#[tokio::test]
async fn every_endpoint_and_who_may_call_it() {
    let ctx = Context::start().await;
    let code = mint_login_code(ctx.db(), ctx.alice.id, timing::LOGIN_CODE)
        .await
        .unwrap();
    let session = redeem_login_code(ctx.db(), &code, timing::SESSION)
        .await
        .unwrap()
        .unwrap();
    let mut table = vec![row(
        "",
        [
            "anonymous",
            "bad token",
            "user",
            "session",
            "x-origin",
            "worker",
            "operator",
        ],
    )];
    for (method, path) in endpoints() {
        let call = || {
            Call::new(
                &ctx,
                method.clone(),
                &path
                    .replace("{id}", NOBODYS)
                    .replace("{slug}", "vector_add")
                    .replace("{device}", "emulated"),
            )
        };
        // Sent last, since logging out ends the session.
        let with_session = async |origin| {
            call()
                .session(&session)
                .origin(origin)
                .send()
                .await
                .status
                .as_u16()
        };
        let statuses = [
            call().send().await.status.as_u16(),
            call().bearer("lsp_wrong").send().await.status.as_u16(),
            call().bearer(&ctx.alice.token).send().await.status.as_u16(),
            if path == protocol::routes::LOGOUT {
                204
            } else {
                with_session("http://judge.test").await
            },
            with_session("https://evil.test").await,
            call().bearer(&ctx.worker_key).send().await.status.as_u16(),
            call()
                .bearer(&ctx.operator.token)
                .send()
                .await
                .status
                .as_u16(),
        ];
        table.push(row(&format!("{method} {path}"), statuses.map(said)));
    }
    assert_snapshot!(table.join("\n"), @r"
                                                       anonymous bad token      user   session  x-origin    worker  operator
    GET /api/v1/devices                                      yes       yes       yes       yes       yes       yes       yes
    GET /api/v1/judgings/{id}                                yes       401       yes       yes       yes       yes       yes
    GET /api/v1/judgings/{id}/code                           yes       401       yes       yes       yes       yes       yes
    POST /api/v1/logout                                      401       401       yes       yes       403       403       yes
    GET /api/v1/me                                           401       401       yes       yes       yes       403       yes
    GET /api/v1/operator/invariants                          401       401       403       403       403       403       yes
    GET /api/v1/problems                                     yes       401       yes       yes       yes       yes       yes
    GET /api/v1/problems/{slug}                              yes       401       yes       yes       yes       yes       yes
    GET /api/v1/problems/{slug}/boards/{device}              yes       401       yes       yes       yes       yes       yes
    GET /api/v1/submissions                                  401       401       yes       yes       yes       403       yes
    POST /api/v1/submissions                                 401       401       yes       yes       403       403       yes
    GET /api/v1/submissions/{id}                             yes       401       yes       yes       yes       yes       yes
    POST /api/v1/submissions/{id}/cancel                     401       401       yes       yes       403       403       yes
    GET /api/v1/submissions/{id}/events                      yes       401       yes       yes       yes       yes       yes
    POST /api/v1/worker/attempts/{id}/heartbeat              401       401       403       403       403       yes       403
    POST /api/v1/worker/attempts/{id}/progress               401       401       403       403       403       yes       403
    POST /api/v1/worker/attempts/{id}/report                 401       401       403       403       403       yes       403
    POST /api/v1/worker/claim                                401       401       403       403       403       yes       403
    POST /api/v1/worker/register                             401       401       403       403       403       yes       403
    GET /healthz                                             yes       yes       yes       yes       yes       yes       yes
    GET /readyz                                              yes       yes       yes       yes       yes       yes       yes
    ");
    ctx.end().await;
}

/// A caller that is let in is told about the request (415: no body was sent) or the thing (404).
fn said(status: u16) -> &'static str {
    match status {
        401 => "401",
        403 => "403",
        200 | 204 | 404 | 415 => "yes",
        other => panic!("an unexpected status: {other}"),
    }
}

fn endpoints() -> Vec<(Method, String)> {
    let document = serde_json::to_value(api::openapi()).unwrap();
    let mut endpoints = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in [
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ] {
            if item.get(method.as_str().to_lowercase()).is_some() {
                endpoints.push((method, path.clone()));
            }
        }
    }
    endpoints
}

fn row(name: &str, cells: [&str; 7]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>10}")).collect();
    format!("{name:50}{cells}").trim_end().to_owned()
}
