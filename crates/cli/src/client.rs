//! The API as the verbs see it: one method a route, every failure turned into a sentence.

use std::net::IpAddr;

use domain::{DeviceName, JudgingId, SubmissionId};
use protocol::board::Board;
use protocol::device::DeviceList;
use protocol::judging::{Judging, JudgingCode};
use protocol::problem::{ProblemDetail, ProblemList};
use protocol::submission::{Submission, SubmissionList, Submit, Submitted};
use protocol::{ErrorCode, EventId, ProblemBody, routes, timing};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::de::DeserializeOwned;

use crate::answer;
use crate::arguments::Global;
use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::suggest::did_you_mean;

/// Where `up` listens if nobody says otherwise.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// A caller of the API, with a token where one is known.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

impl Client {
    /// From flags and environment, else from what `up` left in the state folder.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let states = local_postgres::state_folder::candidates(&global.state);
        let stored = Credentials::find(&states);
        let base = global.url.clone().or(stored.url.clone());
        let base = base.unwrap_or_else(|| DEFAULT_URL.to_owned());
        // The stored token belongs to the stored service and is shown to no other.
        let same_service = match (&global.url, &stored.url) {
            (None, _) => true,
            (Some(asked), Some(stored)) => is_same_service(asked, stored),
            (Some(_), None) => false,
        };
        let token = global
            .token
            .clone()
            .or_else(|| stored.token.filter(|_| same_service));
        Self::with(&base, token)
    }

    /// To a known service.
    pub(crate) fn with(base: &str, token: Option<String>) -> Result<Self, Failure> {
        let Some(url) = parse(base) else {
            let message = format!("`{base}` is not the URL of a service");
            return Err(Failure::usage(message, "write it as http://host:port"));
        };
        let mut http = reqwest::Client::builder()
            .connect_timeout(timing::HEARTBEAT_CALL)
            // A source is handed to the service that was named, and to no other.
            .redirect(reqwest::redirect::Policy::none());
        if is_this_machine(&url) {
            // A proxy would look for the service on a machine of its own, and see the token.
            http = http.no_proxy();
        }
        let http = http
            .build()
            .map_err(|error| Failure::unavailable(error.to_string(), ""))?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self { http, base, token })
    }

    /// Hands in a source.
    pub(crate) async fn submit(&self, body: &Submit) -> Result<Submitted, Failure> {
        let request = self.http.post(self.url(routes::SUBMISSIONS)).json(body);
        let submitted = self.json(request).await;
        let known_device = suggest_device(&body.device, submitted);
        self.suggest_problem(&body.problem, known_device).await
    }

    /// Ends a submission that has no verdict yet.
    pub(crate) async fn cancel(&self, id: SubmissionId) -> Result<Submission, Failure> {
        let url = self.url(&routes::submission_cancel(id));
        self.json(self.http.post(url)).await
    }

    /// The caller's newest submissions, to one problem if one is named.
    pub(crate) async fn submissions(
        &self,
        problem: Option<&str>,
        limit: u32,
    ) -> Result<SubmissionList, Failure> {
        let base = self.url(routes::SUBMISSIONS);
        let limit = limit.to_string();
        let asked = problem.map(|slug| ("problem", slug));
        let asked = asked.into_iter().chain([("limit", limit.as_str())]);
        let url = Url::parse_with_params(&base, asked)
            .map_err(|error| Failure::usage(error.to_string(), ""))?;
        self.json(self.http.get(url)).await
    }

    /// Every problem on offer.
    pub(crate) async fn problems(&self) -> Result<ProblemList, Failure> {
        self.get(routes::PROBLEMS).await
    }

    /// One problem.
    pub(crate) async fn problem(&self, slug: &str) -> Result<ProblemDetail, Failure> {
        let found = self.get(&routes::problem(&segment(slug))).await;
        self.suggest_problem(slug, found).await
    }

    /// Every device, with the workers that offer it.
    pub(crate) async fn devices(&self) -> Result<DeviceList, Failure> {
        self.get(routes::DEVICES).await
    }

    /// One submission.
    pub(crate) async fn submission(&self, id: SubmissionId) -> Result<Submission, Failure> {
        self.get(&routes::submission(id)).await
    }

    /// One judging, report inside.
    pub(crate) async fn judging(&self, id: JudgingId) -> Result<Judging, Failure> {
        self.get(&routes::judging(id)).await
    }

    /// What the source of a judging was compiled to.
    pub(crate) async fn code(&self, id: JudgingId) -> Result<JudgingCode, Failure> {
        self.get(&routes::judging_code(id)).await
    }

    /// The first `limit` rows of a board.
    pub(crate) async fn board(
        &self,
        slug: &str,
        device: DeviceName,
        limit: u32,
    ) -> Result<Board, Failure> {
        let path = format!("{}?limit={limit}", routes::board(&segment(slug), device));
        let board = self.get(&path).await;
        self.suggest_problem(slug, board).await
    }

    /// The stream of a submission's events behind `after`; `None` when nothing can follow.
    pub(crate) async fn events(
        &self,
        id: SubmissionId,
        after: Option<EventId>,
    ) -> Result<Option<Response>, Failure> {
        let url = self.url(&routes::submission_events(id));
        let mut request = self.http.get(url).header("accept", "text/event-stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = self.send(request).await?;
        Ok((response.status() != StatusCode::NO_CONTENT).then_some(response))
    }

    /// An unknown problem is told with the known one that was meant.
    async fn suggest_problem<T>(
        &self,
        slug: &str,
        outcome: Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Err(failure) = outcome else {
            return outcome;
        };
        if failure.api_code() != Some(ErrorCode::UnknownProblem.as_str()) {
            return Err(failure);
        }
        let Ok(list) = self.problems().await else {
            return Err(failure);
        };
        let known = list.problems.iter().map(|problem| problem.slug.as_str());
        Err(suggest(failure, slug, known))
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.json(self.http.get(self.url(path))).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let response = self.send(request.timeout(timing::HTTP_CLIENT)).await?;
        let body = answer::read(response, answer::MAX_BYTES).await;
        body.map_err(|error| {
            let message = format!(
                "{} answered something else than expected: {error}",
                self.base
            );
            Failure::unavailable(message, "is it a Lightspeed service, and of this version?")
        })
    }

    async fn send(&self, mut request: RequestBuilder) -> Result<Response, Failure> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        // An answer that is streamed has no time limit of its own; a refusal is short.
        let body = answer::read(response, answer::MAX_REFUSAL_BYTES);
        let body = tokio::time::timeout(timing::HTTP_CLIENT, body).await;
        let body: Option<ProblemBody> = body.ok().and_then(Result::ok);
        Err(self.refused(status, body.as_ref()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let reason = if error.is_timeout() {
            "it does not answer in time"
        } else if error.is_connect() {
            "nothing answers there"
        } else {
            "the connection broke"
        };
        Failure::unavailable(
            format!("cannot reach {}: {reason}", self.base),
            "start a service with `./lightspeed up`, or name another with --url",
        )
    }

    fn refused(&self, status: StatusCode, body: Option<&ProblemBody>) -> Failure {
        let Some(body) = body else {
            let message = format!("{} answered {status}", self.base);
            return Failure::unavailable(message, "is it a Lightspeed service?");
        };
        let message = body.detail.trim_end_matches('.');
        let hint = match body.known_code() {
            Some(ErrorCode::Unauthenticated) => {
                "give a token with --token or LIGHTSPEED_TOKEN; `up` writes the local user's"
            }
            Some(ErrorCode::UnknownProblem) => "`lightspeed problem list` names the problems",
            Some(ErrorCode::UnknownDevice) => "`lightspeed devices` names the devices",
            Some(ErrorCode::NotFound) => "`lightspeed submissions` lists yours",
            Some(ErrorCode::NoCode) => "`lightspeed watch` shows how far it is, and its messages",
            Some(ErrorCode::AlreadyDone) => "`lightspeed watch` shows it",
            _ => "",
        };
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let hint = format!(
                "try again; the server's log has it as request {}",
                body.request_id
            );
            return Failure::unavailable(message, hint).with_code(&body.code);
        }
        Failure::usage(message, hint).with_code(&body.code)
    }
}

/// An unknown device is told with the known one that was meant.
fn suggest_device<T>(name: &str, outcome: Result<T, Failure>) -> Result<T, Failure> {
    outcome.map_err(|failure| match failure.api_code() {
        Some(code) if code == ErrorCode::UnknownDevice.as_str() => {
            suggest(failure, name, DeviceName::ALL.iter().map(|d| d.as_str()))
        }
        _ => failure,
    })
}

fn suggest<'a>(failure: Failure, word: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    let question = did_you_mean(word, known);
    let hint = failure.hint().unwrap_or_default();
    let hint = format!("{question}{hint}");
    failure.with_hint(hint)
}

/// A word as one segment of a path: what is no letter, digit, `-` or `_` of it cannot lead elsewhere. Not
/// even dots can, which a URL takes for folders however they are written: they become `_`, which no name has
/// in their place.
fn segment(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    word.bytes()
        .map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false if byte == b'.' => "_".to_owned(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// The URL of a service, if that is what the text is.
fn parse(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Whether two texts name the same service: letters' case, a default port and a slash at the end make
/// no difference.
fn is_same_service(a: &str, b: &str) -> bool {
    let service = |text| {
        let url = parse(text)?;
        Some((url.origin(), url.path().trim_end_matches('/').to_owned()))
    };
    service(a).is_some_and(|a| service(b) == Some(a))
}

/// Whether a URL's host is this machine's loopback.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_its_url_however_it_is_written() {
        let stored = "http://127.0.0.1:8080";
        assert!(is_same_service("http://127.0.0.1:8080/", stored));
        assert!(is_same_service("HTTP://127.0.0.1:8080", stored));
        assert!(is_same_service(
            "http://Judge.Example:80/",
            "http://judge.example"
        ));
        assert!(is_same_service(
            "https://judge.example:443",
            "https://judge.example/"
        ));
        for other in [
            "https://127.0.0.1:8080",
            "http://127.0.0.1:8081",
            "http://127.0.0.1",
            "http://127.0.0.1:8080.evil.example",
            "http://127.0.0.1:8080@evil.example",
            "http://127.0.0.1:8080/other",
            "nonsense",
        ] {
            assert!(!is_same_service(other, stored), "{other}");
        }
        assert!(!is_same_service("nonsense", "nonsense"));
    }

    #[test]
    fn loopback_addresses_are_this_machine() {
        let is_here = |text: &str| is_this_machine(&parse(text).unwrap());
        assert!(is_here("http://127.0.0.1:8080"));
        assert!(is_here("http://127.8.0.1"));
        assert!(is_here("http://[::1]:8080"));
        assert!(is_here("http://LOCALHOST:8080"));
        assert!(is_here("http://judge.localhost"));
        assert!(!is_here("http://10.0.0.1:8080"));
        assert!(!is_here("http://127.0.0.1.example.org"));
        assert!(!is_here("http://localhost.example.org"));
    }

    fn client() -> Client {
        crate::install_crypto();
        Client::with("http://127.0.0.1:1/", None).unwrap()
    }

    fn body(code: &str, status: u16) -> ProblemBody {
        ProblemBody {
            code: code.into(),
            detail: "No such problem.".into(),
            request_id: "0190b5a0-0000-7000-8000-000000000001".parse().unwrap(),
            status,
        }
    }

    #[test]
    fn refusals_are_told_apart_by_who_can_mend_them() {
        let client = client();
        let unknown = client.refused(StatusCode::NOT_FOUND, Some(&body("unknown_problem", 404)));
        assert_eq!(unknown.exit_code(), 2);
        assert_eq!(unknown.to_string(), "No such problem (unknown_problem)");
        assert!(unknown.hint().unwrap().contains("problem list"));
        let internal = client.refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            Some(&body("internal", 500)),
        );
        assert_eq!(internal.exit_code(), 3);
        assert!(internal.hint().unwrap().contains("0190b5a0"));
        assert_eq!(client.refused(StatusCode::BAD_GATEWAY, None).exit_code(), 3);
    }

    #[test]
    fn the_word_that_was_meant_comes_first() {
        let refused = |code| client().refused(StatusCode::NOT_FOUND, Some(&body(code, 404)));
        let failure = suggest(refused("unknown_problem"), "matmull", ["matmul"]);
        assert_eq!(
            failure.hint(),
            Some("did you mean `matmul`? `lightspeed problem list` names the problems")
        );
        let failure = suggest_device::<()>("h201", Err(refused("unknown_device"))).unwrap_err();
        let hint = failure.hint().unwrap();
        assert!(hint.starts_with("did you mean `h200`? "), "{hint}");
    }

    #[test]
    fn a_slug_stays_one_segment_of_the_path() {
        assert_eq!(segment("softmax_1d"), "softmax_1d");
        assert_eq!(segment("../me?x"), "__%2Fme%3Fx");
    }

    #[test]
    fn what_is_no_url_is_refused() {
        crate::install_crypto();
        assert_eq!(
            Client::with("localhost:8080", None)
                .unwrap_err()
                .exit_code(),
            2
        );
    }

    #[tokio::test]
    async fn nobody_there_is_status_3_with_a_way_out() {
        let id = "0190b5a0-0000-7000-8000-000000000001".parse().unwrap();
        let failure = client().submission(id).await.unwrap_err();
        assert_eq!(failure.exit_code(), 3);
        assert!(failure.hint().unwrap().contains("up"), "{failure}");
    }
}
