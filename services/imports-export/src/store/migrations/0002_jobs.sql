-- The number of the organization's newest import.
CREATE TABLE imports.counters (
  org_id uuid NOT NULL,
  newest integer NOT NULL,
  PRIMARY KEY (org_id)
) WITH (fillfactor = 70);

-- Imports: jobs, which take chunks, and documents (dedupe_policy legacy), which are committed with their request.
CREATE TABLE imports.jobs (
  org_id uuid NOT NULL,
  id integer NOT NULL CHECK (id > 0),
  -- names its writes at the services that own the data; no client learns it
  write_key uuid NOT NULL DEFAULT gen_random_uuid(),
  -- null until the project exists
  project_id uuid,
  source_type text COLLATE "C" NOT NULL,
  source_project text COLLATE "C",
  target_project text COLLATE "C" NOT NULL CHECK (octet_length(target_project) BETWEEN 1 AND 512),
  schema_version integer NOT NULL,
  dedupe_policy text COLLATE "C" NOT NULL CHECK (dedupe_policy IN ('skip_existing', 'legacy')),
  status text COLLATE "C" NOT NULL CHECK (status IN
    ('created', 'uploading', 'dry_run_ready', 'committing', 'committed', 'failed', 'cancelled', 'completed')),
  -- staged
  chunks integer NOT NULL DEFAULT 0,
  runs integer NOT NULL DEFAULT 0,
  metrics integer NOT NULL DEFAULT 0,
  attributes integer NOT NULL DEFAULT 0,
  artifacts integer NOT NULL DEFAULT 0,
  staged_bytes bigint NOT NULL DEFAULT 0,
  final_received boolean NOT NULL DEFAULT false,
  -- the first 200 as a JSON array of {code, message}, and how many there are
  warnings text NOT NULL DEFAULT '[]',
  -- those that lists show: at most 20, their texts cut
  first_warnings text NOT NULL DEFAULT '[]',
  warning_count integer NOT NULL DEFAULT 0,
  -- the commit: whether it is decided what becomes of each run, and what is stored
  is_planned boolean NOT NULL DEFAULT false,
  batches_done integer NOT NULL DEFAULT 0,
  runs_stored integer NOT NULL DEFAULT 0,
  runs_updated integer NOT NULL DEFAULT 0,
  runs_skipped integer NOT NULL DEFAULT 0,
  metrics_stored integer NOT NULL DEFAULT 0,
  attributes_stored integer NOT NULL DEFAULT 0,
  artifacts_stored integer NOT NULL DEFAULT 0,
  -- for whom the commit writes: tidemark.common.v1.Identity
  identity bytea,
  -- who works on it: every holder of the lease has a higher fence than those before
  fence integer NOT NULL DEFAULT 0,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  error_code text COLLATE "C",
  error_message text,
  created_by_user_id uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at timestamptz,
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE INDEX jobs_of_project ON imports.jobs (org_id, project_id, id DESC);
-- One commit of jobs at a time.
CREATE UNIQUE INDEX jobs_committing ON imports.jobs (org_id) WHERE status = 'committing' AND dedupe_policy = 'skip_existing';
CREATE INDEX jobs_to_work_on ON imports.jobs (leased_until) WHERE status = 'committing';
CREATE INDEX jobs_open ON imports.jobs (updated_at) WHERE status IN ('created', 'uploading', 'dry_run_ready', 'failed');

-- The runs that the chunks of a job define or name.
CREATE TABLE imports.job_runs (
  org_id uuid NOT NULL,
  job_id integer NOT NULL,
  -- the first 16 bytes of SHA-256 of the id at its source
  source_hash bytea NOT NULL CHECK (octet_length(source_hash) = 16),
  -- where it was defined first: the chunk, and the place in its list; null: it was named only
  sequence integer,
  place integer,
  -- has attributes or artifacts
  is_rich boolean NOT NULL,
  -- decided when the commit begins
  outcome text COLLATE "C" CHECK (outcome IN ('create', 'append', 'skip')),
  run_id uuid,
  PRIMARY KEY (org_id, job_id, source_hash)
) WITH (fillfactor = 70);
CREATE INDEX job_runs_in_order ON imports.job_runs (org_id, job_id, sequence, place);

CREATE TABLE imports.chunks (
  org_id uuid NOT NULL,
  job_id integer NOT NULL,
  sequence integer NOT NULL CHECK (sequence >= 0),
  chunk_id text COLLATE "C" NOT NULL CHECK (octet_length(chunk_id) BETWEEN 1 AND 512),
  content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
  is_final boolean NOT NULL,
  runs integer NOT NULL,
  metrics integer NOT NULL,
  attributes integer NOT NULL,
  artifacts integer NOT NULL,
  warnings integer NOT NULL,
  -- packed; null when the job has ended
  content bytea,
  -- a bit for each point that an earlier import stored; null: none did
  known_points bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, job_id, sequence),
  UNIQUE (org_id, job_id, chunk_id)
);
ALTER TABLE imports.chunks ALTER COLUMN content SET STORAGE EXTERNAL;

-- What was imported: a run of a source, of this project.
CREATE TABLE imports.imported_runs (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  -- the first 16 bytes of SHA-256 over source type, source project and id at the source
  identity bytea NOT NULL CHECK (octet_length(identity) = 16),
  run_id uuid NOT NULL,
  PRIMARY KEY (org_id, project_id, identity)
);

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['counters', 'jobs', 'job_runs', 'chunks', 'imported_runs'] LOOP
    PERFORM platform.fence(format('imports.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON imports.%I TO tidemark_imports', fenced);
  END LOOP;
END
$$;

-- The worker sees which jobs have work, in all organizations, and nothing of what is in them.
GRANT SELECT (org_id, id, status, leased_until, updated_at) ON imports.jobs TO tidemark_imports_worker;
SELECT platform.unfence_for('imports.jobs', 'tidemark_imports_worker');
