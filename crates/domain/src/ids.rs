//! Typed identifiers. All are UUIDv7, so that they sort by the time they were made.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::{NoContext, Timestamp, Uuid};

macro_rules! id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "openapi", schema(value_type = String, format = Uuid))]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh id stamped with `now`.
            #[must_use]
            pub fn new(now: DateTime<Utc>) -> Self {
                let seconds = u64::try_from(now.timestamp()).unwrap_or(0);
                let stamp = Timestamp::from_unix(NoContext, seconds, now.timestamp_subsec_nanos());
                Self(Uuid::new_v7(stamp))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

id!(
    /// One source + target handed in by a user.
    SubmissionId
);
id!(
    /// One immutable judgement of a submission; a rejudge makes another.
    JudgingId
);
id!(
    /// One worker's try at a judging.
    AttemptId
);
id!(
    /// An account.
    UserId
);
id!(
    /// A registered worker.
    WorkerId
);
id!(
    /// One HTTP request, named in every error so that an operator can find it in the log.
    RequestId
);
