-- Accounts and everything that proves to be one. Secrets are stored as SHA-256 only: they are
-- random and long, so a slow hash would add nothing.
CREATE TABLE users (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> ''),
    operator boolean NOT NULL DEFAULT false,
    -- Fairness: each submission advances it by what it is expected to cost (see judgings).
    virtual_clock timestamptz NOT NULL DEFAULT '-infinity',
    created_at timestamptz NOT NULL DEFAULT lightspeed_now()
);

-- Bearer tokens of users, `lsp_...`.
CREATE TABLE tokens (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    label text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT lightspeed_now(),
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX tokens_by_user ON tokens (user_id);

-- Single-use codes that a login link carries.
CREATE TABLE login_codes (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);

-- Browser sessions, by the value of their cookie.
CREATE TABLE sessions (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT lightspeed_now(),
    expires_at timestamptz NOT NULL
);

-- Keys of workers, `lsw_...`.
CREATE TABLE worker_keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    label text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT lightspeed_now(),
    revoked_at timestamptz
);
