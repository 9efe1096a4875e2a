//! What every request passes first and every answer last: the request's id, the log line, the body
//! of errors, and the headers that keep a browser safe.

use std::any::Any;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::RequestId;
use protocol::ProblemBody;
use protocol::error::PROBLEM_JSON;
use protocol::routes::REQUEST_ID_HEADER;
use tracing::Instrument;

use crate::error::ApiError;
use crate::state::AppState;

/// Nothing but this origin's own files and calls. Inline styles are what the formula renderer and
/// the editor need; no script is inline.
const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; \
     object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) async fn outer(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let id = RequestId::new(state.now());
    // The path without its query, which may hold a login code.
    let span = tracing::info_span!(
        "request",
        request.id = %id,
        method = %request.method(),
        path = request.uri().path(),
    );
    async move {
        let answer = next.run(request).await;
        let mut answer = render(answer, id);
        tracing::debug!(status = answer.status().as_u16(), "answered");
        guard(&mut answer, id);
        answer
    }
    .instrument(span)
    .await
}

/// A panic in a handler costs its own request, not the connection.
#[allow(clippy::needless_pass_by_value)] // the signature is the layer's
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(
        panic = text.unwrap_or("of an unknown kind"),
        "a handler panicked"
    );
    ApiError::internal().into_response()
}

/// Gives an error its body, and the log its cause.
fn render(answer: Response, id: RequestId) -> Response {
    let Some(error) = answer.extensions().get::<ApiError>().cloned() else {
        return answer;
    };
    if let Some(cause) = &error.cause {
        tracing::error!(code = %error.code, cause = chain(cause.as_ref()), "request failed");
    }
    let body = ProblemBody {
        code: error.code.as_str().to_owned(),
        detail: error.detail.into_owned(),
        request_id: id,
        status: error.code.status(),
    };
    let mut rendered = (
        answer.status(),
        [(header::CONTENT_TYPE, PROBLEM_JSON)],
        serde_json::to_string(&body).expect("four plain fields always serialise"),
    )
        .into_response();
    for (name, value) in answer.headers() {
        if name != header::CONTENT_TYPE && name != header::CONTENT_LENGTH {
            rendered.headers_mut().append(name, value.clone());
        }
    }
    if error.code == protocol::ErrorCode::Unauthenticated {
        let challenge = HeaderValue::from_static("Bearer");
        rendered
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, challenge);
    }
    rendered
}

fn guard(answer: &mut Response, id: RequestId) {
    let headers = answer.headers_mut();
    let id = HeaderValue::from_str(&id.to_string()).expect("a UUID is visible ASCII");
    headers.insert(HeaderName::from_static(REQUEST_ID_HEADER), id);
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Answers of the API depend on who asks; the page's files say for themselves.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;
    use tower_http::catch_panic::CatchPanicLayer;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_internal_error_without_its_text() {
        async fn handler() {
            panic!("secret");
        }
        let router: Router = Router::new()
            .route("/", get(handler))
            .layer(CatchPanicLayer::custom(panicked));
        let answer = router.oneshot(Request::new(Body::empty())).await.unwrap();
        let id = RequestId::new(chrono::DateTime::UNIX_EPOCH);
        let answer = render(answer, id);
        assert_eq!(answer.status(), 500);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], PROBLEM_JSON);
        let body = axum::body::to_bytes(answer.into_body(), 4096)
            .await
            .unwrap();
        let body: ProblemBody = serde_json::from_slice(&body).unwrap();
        assert_eq!(body.code, "internal");
        assert!(!body.detail.contains("secret"));
    }
}
