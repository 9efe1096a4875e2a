//! The built page and the headers it is served with.

use std::fs;

use crate::support::Context;

fn build() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let assets = folder.path().join("_app/immutable");
    fs::create_dir_all(&assets).unwrap();
    fs::write(folder.path().join("index.html"), "<!doctype html>the page").unwrap();
    fs::write(folder.path().join("favicon.svg"), "<svg/>").unwrap();
    fs::write(assets.join("app.a1b2.js"), "export {}").unwrap();
    folder
}

#[tokio::test]
async fn files_are_served_and_every_view_is_the_page() {
    let folder = build();
    let ctx = Context::start_with(Some(folder.path())).await;
    for path in [
        "/",
        "/problems/vector_add",
        "/problems/vector_add/",
        "/problems/vector_add/board/h200",
        "/judgings/0197f6a0-0000-7000-8000-000000000000",
    ] {
        let page = ctx.get(path).send().await.expect_status(200);
        assert_eq!(page.text(), "<!doctype html>the page");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(page.header("cache-control"), "no-cache");
    }
    let asset = ctx
        .get("/_app/immutable/app.a1b2.js")
        .send()
        .await
        .expect_status(200);
    assert_eq!(asset.header("content-type"), "text/javascript");
    assert_eq!(
        asset.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    let icon = ctx.get("/favicon.svg").send().await.expect_status(200);
    assert_eq!(icon.header("cache-control"), "no-cache");
    ctx.end().await;
}

#[tokio::test]
async fn nothing_outside_the_folder_is_served() {
    let folder = build();
    let secret = folder.path().with_extension("txt");
    fs::write(&secret, "secret").unwrap();
    let name = secret.file_name().unwrap().to_str().unwrap();
    let ctx = Context::start_with(Some(folder.path())).await;
    for path in [
        format!("/_app/..%2f..%2f{name}"),
        "/_app/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/_app/missing.js".to_owned(),
        "/api".to_owned(),
        "/api/v2/problems".to_owned(),
    ] {
        let answer = ctx.get(&path).send().await;
        assert_eq!(answer.problem(), "404 not_found", "{path}");
    }
    // Where a person may have mistyped, the page says so, under the same status.
    for path in [
        format!("/../{name}"),
        format!("/%2e%2e/{name}"),
        "/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/..%2f..%2fetc%2fpasswd".to_owned(),
        "/problems/%2e%2e".to_owned(),
        "/problems/..%2f..%2fetc".to_owned(),
        "/problems/nope".to_owned(),
        "/problems/vector_add/board/nope".to_owned(),
        "/problems/vector_add/more".to_owned(),
        "/judgings/17".to_owned(),
        "/missing.js".to_owned(),
        "/_app".to_owned(),
        "//".to_owned(),
        "/nothing".to_owned(),
    ] {
        let answer = ctx.get(&path).send().await.expect_status(404);
        assert_eq!(answer.text(), "<!doctype html>the page", "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    }
    fs::remove_file(secret).unwrap();
    ctx.end().await;
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_keep_browsers_safe() {
    let folder = build();
    let ctx = Context::start_with(Some(folder.path())).await;
    for path in [
        "/",
        "/_app/immutable/app.a1b2.js",
        "/api/v1/problems",
        "/api/v1/me",
    ] {
        let answer = ctx.get(path).send().await;
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("default-src 'self'; script-src 'self';"),
            "{path}"
        );
        assert!(policy.contains("frame-ancestors 'none'"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("x-request-id").len(), 36);
    }
    let answer = ctx.get("/api/v1/problems").send().await;
    assert_eq!(answer.header("cache-control"), "no-store");
    ctx.end().await;
}

#[tokio::test]
async fn without_a_build_the_page_says_how_to_make_one() {
    let empty = tempfile::tempdir().unwrap();
    for folder in [None, Some(empty.path())] {
        let ctx = Context::start_with(folder).await;
        let page = ctx.get("/").send().await.expect_status(503);
        assert!(page.text().contains("npm run build"));
        ctx.get("/api/v1/problems").send().await.expect_status(200);
        ctx.end().await;
    }
}
