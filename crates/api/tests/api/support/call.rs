//! One request, and what came back.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use protocol::ProblemBody;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;

use super::Context;

pub struct Call<'a> {
    context: &'a Context,
    request: axum::http::request::Builder,
    body: Body,
}

impl<'a> Call<'a> {
    pub fn new(context: &'a Context, method: Method, path: &str) -> Self {
        Self {
            context,
            request: Request::builder()
                .method(method)
                .uri(path)
                .header(header::HOST, "judge.test"),
            body: Body::empty(),
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub fn bearer(self, secret: &str) -> Self {
        self.header("authorization", &format!("Bearer {secret}"))
    }

    pub fn session(self, session: &str) -> Self {
        self.header("cookie", &format!("lightspeed_session={session}"))
    }

    pub fn origin(self, origin: &str) -> Self {
        self.header("origin", origin)
    }

    pub fn json(self, body: &impl Serialize) -> Self {
        self.raw_json(serde_json::to_vec(body).unwrap())
    }

    pub fn raw_json(mut self, body: Vec<u8>) -> Self {
        self.body = Body::from(body);
        self.header("content-type", "application/json")
    }

    /// The response with its body unread, for streams.
    pub async fn open(self) -> axum::response::Response {
        let request = self.request.body(self.body).unwrap();
        self.context.router.clone().oneshot(request).await.unwrap()
    }

    pub async fn send(self) -> Answer {
        let response = self.open().await;
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 16 << 20).await.unwrap().to_vec();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub fn expect_status(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self
    }

    pub fn parse<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn json(&self) -> Value {
        self.parse()
    }

    /// The problem document, checked for its form: `status code`.
    pub fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem: ProblemBody = self.parse();
        assert_eq!(problem.status, self.status.as_u16());
        assert_eq!(problem.request_id.to_string(), self.header("x-request-id"));
        assert!(
            problem
                .known_code()
                .is_some_and(|code| code.status() == problem.status),
            "{} under {}",
            problem.code,
            problem.status
        );
        format!("{} {}", problem.status, problem.code)
    }

    pub fn detail(&self) -> String {
        self.parse::<ProblemBody>().detail
    }
}
