//! The built page: files as they are, and for every other path that a person may open the page
//! itself, which finds out what to show. Unknown paths of the API are errors, not pages.

use std::path::Path;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use tower_http::services::ServeDir;

use crate::error::ApiError;
use crate::state::AppState;

/// Files under it carry their digest in their name.
const IMMUTABLE: &str = "/_app/immutable/";
/// Names under which builds store the page.
const PAGES: [&str; 2] = ["200.html", "index.html"];

pub(crate) async fn serve(State(state): State<AppState>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if path == "/api" || path.starts_with("/api/") || !is_read {
        return ApiError::not_found().into_response();
    }
    let Some(folder) = state.web_dir() else {
        return not_built();
    };
    if is_file_name(&path) {
        file(folder, &path, request).await
    } else {
        page(folder).await
    }
}

async fn file(folder: &Path, path: &str, request: Request) -> Response {
    let Ok(answer) = ServeDir::new(folder)
        .precompressed_br()
        .precompressed_gzip()
        .append_index_html_on_directories(false)
        .try_call(request)
        .await
    else {
        return ApiError::not_found().into_response();
    };
    if answer.status() == StatusCode::NOT_FOUND {
        return ApiError::not_found().into_response();
    }
    let mut answer = answer.into_response();
    let cache = if path.starts_with(IMMUTABLE) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let cache = HeaderValue::from_static(cache);
    answer.headers_mut().insert(header::CACHE_CONTROL, cache);
    answer
}

async fn page(folder: &Path) -> Response {
    for name in PAGES {
        // Read each time: a rebuilt page is served without a restart.
        if let Ok(html) = tokio::fs::read(folder.join(name)).await {
            return ([(header::CACHE_CONTROL, "no-cache")], Html(html)).into_response();
        }
    }
    not_built()
}

fn not_built() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT_PAGE)).into_response()
}

/// Paths of the page have no dot in their last part; files have.
fn is_file_name(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|last| last.contains('.'))
}

const NOT_BUILT_PAGE: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Lightspeed: page not built</title>
<body style=\"font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem\">
<h1>The service runs; its page is not built</h1>
<p>Build it, then load this page again:</p>
<pre>cd web &amp;&amp; npm ci &amp;&amp; npm run build</pre>
<p>The API works without it: <a href=\"/api/openapi.json\">/api/openapi.json</a></p>
</body></html>
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_pages_are_told_apart() {
        assert!(is_file_name("/favicon.svg"));
        assert!(is_file_name("/_app/immutable/chunks/a1b2.js"));
        assert!(!is_file_name("/"));
        assert!(!is_file_name("/problems/vector_add"));
        assert!(!is_file_name("/v1.2/problems"));
    }
}
