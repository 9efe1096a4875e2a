//! A worker process, as far as the API can tell.

use domain::{CodeListing, Phase, Progress, Report, Verdict};
use protocol::routes;
use protocol::worker::{
    AttemptOutcome, AttemptReport, Claim, ClaimAnswer, ClaimRequest, Heartbeat, ProgressReport,
    Registered,
};
use serde_json::json;
use uuid::Uuid;

use super::reports::report;
use super::{Answer, Context};

pub struct Worker<'a> {
    pub registered: Registered,
    context: &'a Context,
}

/// A judging that a worker holds.
pub struct Held<'a> {
    pub claim: Claim,
    context: &'a Context,
}

impl<'a> Worker<'a> {
    pub async fn register(context: &'a Context, name: &str) -> Self {
        let registered = context
            .post(routes::WORKER_REGISTER)
            .bearer(&context.worker_key)
            .json(&json!({
                "name": name,
                "devices": ["emulated"],
                "problems": [{"slug": "vector_add", "version": vector_add_version(context).await}],
                "toolchain": {"nvrtc": "13.5.37", "cupti": null, "options": []},
            }))
            .send()
            .await
            .expect_status(200)
            .parse();
        Self {
            registered,
            context,
        }
    }

    /// Takes the next judging; there must be one.
    pub async fn claim(&self) -> Held<'a> {
        self.try_claim().await.expect("there is a judging to claim")
    }

    pub async fn try_claim(&self) -> Option<Held<'a>> {
        self.claim_as(Uuid::new_v4(), 0.0)
            .await
            .expect_status(200)
            .parse::<ClaimAnswer>()
            .claim
            .map(|claim| self.hold(*claim))
    }

    pub async fn claim_as(&self, claim_id: Uuid, wait_s: f64) -> Answer {
        self.context
            .post(routes::WORKER_CLAIM)
            .bearer(&self.context.worker_key)
            .json(&ClaimRequest {
                worker_id: self.registered.worker_id,
                incarnation: self.registered.incarnation,
                claim_id,
                wait_s,
            })
            .send()
            .await
    }

    pub fn hold(&self, claim: Claim) -> Held<'a> {
        Held {
            claim,
            context: self.context,
        }
    }
}

impl Held<'_> {
    /// SIGKILL: nothing is said, and nothing ever will be.
    pub fn die(self) {}

    pub async fn heartbeat(&self) -> Answer {
        let body = Heartbeat {
            lease_token: self.claim.lease_token,
        };
        self.post(&routes::heartbeat(self.claim.attempt_id), &body)
            .await
    }

    pub async fn progress(&self, phase: Phase, done: u32, total: u32) -> Answer {
        let body = ProgressReport {
            lease_token: self.claim.lease_token,
            progress: Progress { phase, done, total },
        };
        self.post(&routes::progress(self.claim.attempt_id), &body)
            .await
    }

    pub async fn finish(&self, verdict: Verdict) -> Answer {
        self.send_report(report(&self.claim, verdict)).await
    }

    pub async fn send_report(&self, report: Report) -> Answer {
        self.send(report, None).await
    }

    /// Reports with the code that was compiled.
    pub async fn finish_with(&self, verdict: Verdict, code: CodeListing) -> Answer {
        self.send(report(&self.claim, verdict), Some(Box::new(code)))
            .await
    }

    async fn send(&self, report: Report, code: Option<Box<CodeListing>>) -> Answer {
        self.end(AttemptOutcome::Report {
            report: Box::new(report),
            code,
        })
        .await
    }

    pub async fn retry(&self, reason: &str) -> Answer {
        let reason = reason.to_owned();
        self.end(AttemptOutcome::Retry { reason }).await
    }

    pub async fn release(&self, reason: &str) -> Answer {
        let reason = reason.to_owned();
        self.end(AttemptOutcome::Release { reason }).await
    }

    async fn end(&self, outcome: AttemptOutcome) -> Answer {
        let body = AttemptReport {
            lease_token: self.claim.lease_token,
            outcome,
        };
        self.post(&routes::report(self.claim.attempt_id), &body)
            .await
    }

    async fn post(&self, path: &str, body: &impl serde::Serialize) -> Answer {
        self.context
            .post(path)
            .bearer(&self.context.worker_key)
            .json(body)
            .send()
            .await
    }
}

async fn vector_add_version(context: &Context) -> u64 {
    let problem = context.get(&routes::problem("vector_add")).send().await;
    problem.expect_status(200).json()["version"]
        .as_u64()
        .unwrap()
}
