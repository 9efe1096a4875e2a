-- Which problem versions exist. The packages themselves are files; this is what submissions and
-- boards point at.
CREATE TABLE problem_versions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug text NOT NULL CHECK (slug ~ '^[a-z][a-z0-9_]*$'),
    version integer NOT NULL CHECK (version > 0),
    -- SHA-256 of the package, so that a silent edit of a published version is seen.
    digest text NOT NULL,
    metadata jsonb NOT NULL,
    published_at timestamptz NOT NULL DEFAULT lightspeed_now(),
    UNIQUE (slug, version)
);
