//! The worker's side of the HTTP contract: one call a route, errors told apart by what to do next.

use std::time::Duration;

use protocol::worker::{
    AttemptReport, ClaimAnswer, ClaimRequest, Heartbeat, HeartbeatAnswer, ProgressReport, Register,
    Registered, ReportAnswer,
};
use protocol::{ErrorCode, ProblemBody, routes, timing};
use serde::Serialize;
use serde::de::DeserializeOwned;

use domain::AttemptId;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The API could not be reached, or answered with a 5xx: try again.
    #[error("the API cannot be reached: {0}")]
    Unreachable(String),
    /// The lease or the registration is lost: stop at once.
    #[error("superseded: {0}")]
    Superseded(String),
    /// The API understood and refused; trying again would not help.
    #[error("the API refused ({code}): {detail}")]
    Refused {
        /// The contract's error code.
        code: String,
        /// What it says.
        detail: String,
    },
}

impl ClientError {
    /// Whether the body was larger than the API takes.
    pub(crate) fn is_of_size(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if code == ErrorCode::BodyTooLarge.as_str())
    }
}

/// A client with the worker's key.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    key: String,
}

impl Client {
    pub fn new(base: &str, key: &str) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder()
            .timeout(timing::HTTP_CLIENT)
            .no_proxy()
            .build()
            .map_err(|e| ClientError::Unreachable(e.to_string()))?;
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self {
            http,
            base,
            key: key.to_owned(),
        })
    }

    pub async fn register(&self, body: &Register) -> Result<Registered, ClientError> {
        self.post(routes::WORKER_REGISTER, body, None).await
    }

    pub async fn claim(&self, body: &ClaimRequest) -> Result<ClaimAnswer, ClientError> {
        self.post(routes::WORKER_CLAIM, body, None).await
    }

    pub async fn heartbeat(
        &self,
        attempt: AttemptId,
        body: &Heartbeat,
    ) -> Result<HeartbeatAnswer, ClientError> {
        self.post(
            &routes::heartbeat(attempt),
            body,
            Some(timing::HEARTBEAT_CALL),
        )
        .await
    }

    pub async fn progress(
        &self,
        attempt: AttemptId,
        body: &ProgressReport,
    ) -> Result<(), ClientError> {
        self.send(
            &routes::progress(attempt),
            body,
            Some(timing::HEARTBEAT_CALL),
        )
        .await
        .map(|_| ())
    }

    pub async fn report(
        &self,
        attempt: AttemptId,
        body: &AttemptReport,
    ) -> Result<ReportAnswer, ClientError> {
        // Short enough for a second try within the lease.
        let timeout = Some(timing::HEARTBEAT_CALL * 2);
        self.post(&routes::report(attempt), body, timeout).await
    }

    async fn post<B: Serialize, A: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
        timeout: Option<Duration>,
    ) -> Result<A, ClientError> {
        let response = self.send(path, body, timeout).await?;
        response
            .json()
            .await
            .map_err(|e| ClientError::Unreachable(e.to_string()))
    }

    async fn send<B: Serialize>(
        &self,
        path: &str,
        body: &B,
        timeout: Option<Duration>,
    ) -> Result<reqwest::Response, ClientError> {
        let mut request = self
            .http
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
            .json(body);
        if let Some(timeout) = timeout {
            request = request.timeout(timeout);
        }
        let response = request
            .send()
            .await
            .map_err(|e| ClientError::Unreachable(innermost(&e)))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(refusal(response).await)
    }
}

async fn refusal(response: reqwest::Response) -> ClientError {
    let status = response.status();
    let body = response.json::<ProblemBody>().await.ok();
    if status.is_server_error() {
        return ClientError::Unreachable(format!("it answered {status}"));
    }
    let Some(body) = body else {
        return refusal_without_words(status);
    };
    match body.known_code() {
        Some(ErrorCode::Superseded | ErrorCode::StaleIncarnation) => {
            ClientError::Superseded(body.detail)
        }
        _ => ClientError::Refused {
            code: body.code,
            detail: body.detail,
        },
    }
}

/// What a refusal means that is not the API's: of what stands in front of it.
fn refusal_without_words(status: reqwest::StatusCode) -> ClientError {
    let code = match status {
        reqwest::StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::BodyTooLarge.as_str().to_owned(),
        status => status.to_string(),
    };
    ClientError::Refused {
        code,
        detail: "whatever stands in front of the API says no more".to_owned(),
    }
}

/// The cause a person can act on ("connection refused"), not the wrapper ("error sending request").
fn innermost(error: &reqwest::Error) -> String {
    let mut current: &dyn std::error::Error = error;
    while let Some(source) = current.source() {
        current = source;
    }
    current.to_string()
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::*;

    #[test]
    fn a_size_that_a_proxy_refuses_is_told_as_one() {
        assert!(refusal_without_words(StatusCode::PAYLOAD_TOO_LARGE).is_of_size());
        assert!(!refusal_without_words(StatusCode::FORBIDDEN).is_of_size());
    }
}
