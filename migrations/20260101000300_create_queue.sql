-- The queue. A submission is source + target; a judging is one judgement of it and immutable once
-- done; an attempt is one worker's try and immutable once ended.
-- Lock order in every transaction: users, judgings, attempts, submissions.

CREATE TABLE workers (
    id uuid PRIMARY KEY,
    key_id bigint NOT NULL REFERENCES worker_keys,
    name text NOT NULL CHECK (name <> ''),
    -- Counts registrations; a process with an older number is refused.
    incarnation integer NOT NULL DEFAULT 1,
    devices text[] NOT NULL,
    problem_versions bigint[] NOT NULL,
    toolchain jsonb NOT NULL,
    registered_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    UNIQUE (key_id, name)
);

CREATE TABLE sources (
    sha256 text PRIMARY KEY CHECK (length(sha256) = 64),
    body text NOT NULL CHECK (octet_length(body) BETWEEN 1 AND 262144)
);

CREATE TABLE submissions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users,
    problem_version bigint NOT NULL REFERENCES problem_versions,
    device text NOT NULL,
    mode text NOT NULL CHECK (mode IN ('practice', 'ranked')),
    source_sha256 text NOT NULL REFERENCES sources,
    created_at timestamptz NOT NULL,
    -- Number of the newest event. Taken under this row's lock, so that the order of numbers is the
    -- order of commits and a reader that resumes behind one misses none.
    last_seq bigint NOT NULL DEFAULT 0
);
CREATE INDEX submissions_by_user ON submissions (user_id, id DESC);
CREATE INDEX submissions_by_problem ON submissions (problem_version);

CREATE TABLE judgings (
    id uuid PRIMARY KEY,
    submission_id uuid NOT NULL REFERENCES submissions,
    -- Copies of the submission's, so that the claim touches one table and one index.
    problem_version bigint NOT NULL REFERENCES problem_versions,
    device text NOT NULL,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done')),
    -- 0 practice, 1 ranked, 2 rejudge; ageing lowers it.
    class smallint NOT NULL CHECK (class BETWEEN 0 AND 2),
    -- Fairness: when this would start if its user's judgings ran one after the other.
    virtual_start timestamptz NOT NULL,
    -- Attempts begun, and those of them that the infrastructure lost.
    attempts integer NOT NULL DEFAULT 0,
    faults integer NOT NULL DEFAULT 0,
    phase text CHECK (phase IN ('compiling', 'checking', 'timing', 'verifying')),
    queued_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    verdict text,
    kind text,
    message text,
    report jsonb,
    metric text,
    score double precision,
    strict_sol double precision,
    worst_shape text,
    scoring_version integer,
    CONSTRAINT done_has_a_verdict CHECK ((status = 'done') = (verdict IS NOT NULL)),
    CONSTRAINT done_has_an_end CHECK ((status = 'done') = (finished_at IS NOT NULL)),
    CONSTRAINT a_score_has_a_metric CHECK (score IS NULL OR metric IS NOT NULL)
);
CREATE INDEX judgings_by_submission ON judgings (submission_id, id);
CREATE INDEX judgings_to_claim ON judgings (device, class, virtual_start, id)
    WHERE status = 'queued';
CREATE INDEX judgings_on_board ON judgings (problem_version, device, metric, score DESC)
    WHERE verdict = 'accepted' AND score IS NOT NULL;

CREATE TABLE attempts (
    id uuid PRIMARY KEY,
    judging_id uuid NOT NULL REFERENCES judgings,
    -- From 1 within the judging.
    number integer NOT NULL CHECK (number > 0),
    worker_id uuid NOT NULL REFERENCES workers,
    incarnation integer NOT NULL,
    -- Made by the worker; repeating a claim finds the attempt it made before.
    claim_id uuid NOT NULL,
    -- The fence: every write of a worker must name it.
    lease_token uuid NOT NULL DEFAULT gen_random_uuid(),
    lease_until timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    outcome text CHECK (outcome IN ('reported', 'expired', 'retried', 'released', 'cancelled')),
    reason text,
    UNIQUE (judging_id, number),
    UNIQUE (worker_id, claim_id),
    CONSTRAINT an_end_has_an_outcome CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
-- At most one live lease a judging, whatever the code does.
CREATE UNIQUE INDEX attempts_one_live ON attempts (judging_id) WHERE outcome IS NULL;
CREATE INDEX attempts_to_expire ON attempts (lease_until) WHERE outcome IS NULL;

CREATE TABLE events (
    submission_id uuid NOT NULL REFERENCES submissions,
    seq bigint NOT NULL CHECK (seq > 0),
    judging_id uuid NOT NULL REFERENCES judgings,
    name text NOT NULL CHECK (name IN ('status', 'phase', 'report')),
    attempt integer NOT NULL,
    status text,
    phase text,
    verdict text,
    kind text,
    message text,
    at timestamptz NOT NULL,
    PRIMARY KEY (submission_id, seq)
);
CREATE INDEX events_by_judging ON events (judging_id);
