//! The built page: files as they are, and the page itself for the paths that it has a view for. Any
//! other path is 404: an error of the API's kind under `/api` and among the build's files, else the
//! page, which then says that there is nothing.

use std::path::Path;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use domain::{DeviceName, JudgingId};
use tower_http::services::ServeDir;

use crate::error::ApiError;
use crate::state::AppState;

/// Files under it carry their digest in their name.
const IMMUTABLE: &str = "/_app/immutable/";
/// The build's own files.
const FILES: &str = "/_app/";
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
    if is_view(&path, &state) {
        return page(folder, StatusCode::OK).await;
    }
    match file(folder, &path, request).await {
        Some(file) => file,
        None if path.starts_with(FILES) => ApiError::not_found().into_response(),
        None => page(folder, StatusCode::NOT_FOUND).await,
    }
}

/// Whether the page has something to show under a path. In step with `web/src/routes`.
fn is_view(path: &str, state: &AppState) -> bool {
    let known = |slug: &str| state.packages().contains_key(slug);
    let path = path.strip_suffix('/').unwrap_or(path);
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts[..] {
        [] => true,
        ["problems", slug] => known(slug),
        ["problems", slug, "board", device] => known(slug) && device.parse::<DeviceName>().is_ok(),
        ["judgings", id] => id.parse::<JudgingId>().is_ok(),
        _ => false,
    }
}

/// The file of a path, if there is one.
async fn file(folder: &Path, path: &str, request: Request) -> Option<Response> {
    let mut answer = ServeDir::new(folder)
        .precompressed_br()
        .precompressed_gzip()
        .append_index_html_on_directories(false)
        .try_call(request)
        .await
        .ok()
        .filter(|answer| answer.status() != StatusCode::NOT_FOUND)?
        .into_response();
    let cache = if path.starts_with(IMMUTABLE) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let cache = HeaderValue::from_static(cache);
    answer.headers_mut().insert(header::CACHE_CONTROL, cache);
    Some(answer)
}

async fn page(folder: &Path, status: StatusCode) -> Response {
    for name in PAGES {
        // Read each time: a rebuilt page is served without a restart.
        if let Ok(html) = tokio::fs::read(folder.join(name)).await {
            let headers = [(header::CACHE_CONTROL, "no-cache")];
            return (status, headers, Html(html)).into_response();
        }
    }
    not_built()
}

fn not_built() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, Html(NOT_BUILT_PAGE)).into_response()
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
