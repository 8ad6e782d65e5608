CREATE SCHEMA runs;
GRANT USAGE ON SCHEMA runs TO tidemark_runs, tidemark_definer;

-- Texts are compared byte by byte, so that lists have one order on every server.
CREATE TABLE runs.projects (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 512),
  description text CHECK (octet_length(description) BETWEEN 1 AND 512),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  runs_running bigint NOT NULL DEFAULT 0 CHECK (runs_running >= 0),
  runs_finished bigint NOT NULL DEFAULT 0 CHECK (runs_finished >= 0),
  runs_failed bigint NOT NULL DEFAULT 0 CHECK (runs_failed >= 0),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, name)
) WITH (fillfactor = 70); -- room for new versions of the counters beside the old ones

COMMENT ON COLUMN runs.projects.runs_running IS 'runs by stored status, kept by whatever creates a run or changes its status';

SELECT platform.fence('runs.projects');
GRANT SELECT, INSERT ON runs.projects TO tidemark_runs;
GRANT UPDATE (runs_running, runs_finished, runs_failed) ON runs.projects TO tidemark_runs;

CREATE TABLE runs.runs (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid NOT NULL,
  -- Longer than a client may choose: the server names a fork after its parent.
  name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 1024),
  status text COLLATE "C" NOT NULL CHECK (status IN ('running', 'finished', 'failed')),
  config text NOT NULL,
  tags text[] NOT NULL,
  metadata text NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  resume_count integer NOT NULL DEFAULT 0,
  resumed_at timestamptz,
  lifecycle jsonb NOT NULL DEFAULT '[]',
  create_fingerprint bytea CHECK (octet_length(create_fingerprint) = 32),
  parent_run_id uuid,
  forked_from_step double precision,
  forked_from_artifact_id uuid,
  stop_state text COLLATE "C" NOT NULL DEFAULT 'none'
    CHECK (stop_state IN ('none', 'requested', 'acknowledged', 'completed', 'terminal_without_completion')),
  stop_request_id uuid,
  stop_reason text,
  stop_completion_message text,
  stop_actor text CHECK (stop_actor IN ('user', 'api_key', 'local', 'unknown')),
  stop_requested_at timestamptz,
  stop_acknowledged_at timestamptz,
  stop_completed_at timestamptz,
  stop_updated_at timestamptz,
  display_status text COLLATE "C" NOT NULL GENERATED ALWAYS AS (
    CASE
      WHEN status = 'running' AND stop_state IN ('requested', 'acknowledged') THEN 'stopping'
      WHEN status <> 'running' AND stop_state = 'completed' THEN 'stopped'
      ELSE status
    END
  ) STORED,
  PRIMARY KEY (org_id, id),
  FOREIGN KEY (org_id, project_id) REFERENCES runs.projects (org_id, id),
  CHECK (status = 'running' OR finished_at IS NOT NULL),
  CHECK ((stop_state = 'none') = (stop_request_id IS NULL))
);

COMMENT ON COLUMN runs.runs.config IS 'compact JSON object, keys sorted, numbers as they were sent';
COMMENT ON COLUMN runs.runs.metadata IS 'as config; the member notes holds the notes of the run';
COMMENT ON COLUMN runs.runs.lifecycle IS 'the last 20 resumes, oldest first';
COMMENT ON COLUMN runs.runs.create_fingerprint IS 'SHA-256 of the create request; null when the client gave no id, and for forks';

-- Newest first, of an organization and of a project.
CREATE INDEX runs_newest ON runs.runs (org_id, created_at DESC, id DESC);
CREATE INDEX runs_newest_of_project ON runs.runs (org_id, project_id, created_at DESC, id DESC);

SELECT platform.fence('runs.runs');
GRANT SELECT, INSERT ON runs.runs TO tidemark_runs;
GRANT UPDATE (tags, metadata, status, finished_at, resume_count, resumed_at, lifecycle, stop_state, stop_request_id,
              stop_reason, stop_completion_message, stop_actor, stop_requested_at, stop_acknowledged_at,
              stop_completed_at, stop_updated_at)
  ON runs.runs TO tidemark_runs;
