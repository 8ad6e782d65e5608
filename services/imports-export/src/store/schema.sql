-- Schema imports: what a new database starts with.

CREATE SCHEMA imports;
GRANT USAGE ON SCHEMA imports TO tidemark_definer, tidemark_imports, tidemark_imports_worker, tidemark_runs,
  tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA imports TO tidemark_imports;

CREATE TABLE imports.archive_pieces (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  number integer NOT NULL,
  first_line integer NOT NULL,
  lines integer NOT NULL,
  content_hash bytea NOT NULL,
  is_part boolean NOT NULL,
  content bytea,
  facts bytea,
  CONSTRAINT archive_pieces_pkey PRIMARY KEY (org_id, archive_id, number),
  CONSTRAINT archive_pieces_content_hash_check CHECK (octet_length(content_hash) = 32),
  CONSTRAINT archive_pieces_number_check CHECK (number >= 0)
);
ALTER TABLE imports.archive_pieces ALTER COLUMN content SET STORAGE EXTERNAL, ALTER COLUMN facts SET STORAGE EXTERNAL;
SELECT platform.fence('imports.archive_pieces');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.archive_pieces TO tidemark_imports;

CREATE TABLE imports.archives (
  org_id uuid NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  key_hash bytea,
  status text COLLATE "C" DEFAULT 'receiving' NOT NULL,
  identity bytea NOT NULL,
  pieces integer DEFAULT 0 NOT NULL,
  staged_bytes bigint DEFAULT 0 NOT NULL,
  ids bytea,
  pieces_done integer DEFAULT 0 NOT NULL,
  warnings text DEFAULT '[]' NOT NULL,
  answer bytea,
  error_code text COLLATE "C",
  error_message text,
  error_position integer,
  fence integer DEFAULT 0 NOT NULL,
  leased_until timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT archives_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT archives_key_hash_check CHECK (octet_length(key_hash) = 32),
  CONSTRAINT archives_status_check CHECK (status IN ('receiving', 'restoring', 'restored', 'failed'))
) WITH (fillfactor=70);
CREATE UNIQUE INDEX archives_of_key ON imports.archives (org_id, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX archives_old ON imports.archives (updated_at) WHERE status <> 'restoring';
CREATE INDEX archives_to_work_on ON imports.archives (leased_until) WHERE status = 'restoring';
SELECT platform.fence('imports.archives');
SELECT platform.unfence_for('imports.archives', 'tidemark_imports_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.archives TO tidemark_imports;
GRANT SELECT (org_id, id, status, leased_until, updated_at) ON TABLE imports.archives TO tidemark_imports_worker;

CREATE TABLE imports.chunks (
  org_id uuid NOT NULL,
  job_id integer NOT NULL,
  sequence integer NOT NULL,
  chunk_id text COLLATE "C" NOT NULL,
  content_hash bytea NOT NULL,
  is_final boolean NOT NULL,
  runs integer NOT NULL,
  metrics integer NOT NULL,
  attributes integer NOT NULL,
  artifacts integer NOT NULL,
  warnings integer NOT NULL,
  content bytea,
  known_points bytea,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT chunks_pkey PRIMARY KEY (org_id, job_id, sequence),
  CONSTRAINT chunks_org_id_job_id_chunk_id_key UNIQUE (org_id, job_id, chunk_id),
  CONSTRAINT chunks_chunk_id_check CHECK (octet_length(chunk_id) >= 1 AND octet_length(chunk_id) <= 512),
  CONSTRAINT chunks_content_hash_check CHECK (octet_length(content_hash) = 32),
  CONSTRAINT chunks_sequence_check CHECK (sequence >= 0)
);
ALTER TABLE imports.chunks ALTER COLUMN content SET STORAGE EXTERNAL;
SELECT platform.fence('imports.chunks');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.chunks TO tidemark_imports;

CREATE TABLE imports.counters (
  org_id uuid NOT NULL,
  newest integer NOT NULL,
  newest_turn bigint DEFAULT 0 NOT NULL,
  CONSTRAINT counters_pkey PRIMARY KEY (org_id)
) WITH (fillfactor=70);
COMMENT ON COLUMN imports.counters.newest_turn IS 'of the last commit that was requested';
SELECT platform.fence('imports.counters');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.counters TO tidemark_imports;

CREATE TABLE imports.imported_runs (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  identity bytea NOT NULL,
  run_id uuid NOT NULL,
  CONSTRAINT imported_runs_pkey PRIMARY KEY (org_id, project_id, identity),
  CONSTRAINT imported_runs_identity_check CHECK (octet_length(identity) = 16)
);
CREATE INDEX imported_runs_of_run ON imports.imported_runs (org_id, run_id);
SELECT platform.fence('imports.imported_runs');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.imported_runs TO tidemark_imports;

CREATE TABLE imports.job_runs (
  org_id uuid NOT NULL,
  job_id integer NOT NULL,
  source_hash bytea NOT NULL,
  sequence integer,
  place integer,
  is_rich boolean NOT NULL,
  outcome text COLLATE "C",
  run_id uuid,
  CONSTRAINT job_runs_pkey PRIMARY KEY (org_id, job_id, source_hash),
  CONSTRAINT job_runs_outcome_check CHECK (outcome IN ('create', 'append', 'skip')),
  CONSTRAINT job_runs_source_hash_check CHECK (octet_length(source_hash) = 16)
) WITH (fillfactor=70);
CREATE INDEX job_runs_in_order ON imports.job_runs (org_id, job_id, sequence, place);
CREATE INDEX job_runs_of_run ON imports.job_runs (org_id, run_id, job_id) WHERE run_id IS NOT NULL;
SELECT platform.fence('imports.job_runs');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.job_runs TO tidemark_imports;

CREATE TABLE imports.jobs (
  org_id uuid NOT NULL,
  id integer NOT NULL,
  write_key uuid DEFAULT gen_random_uuid() NOT NULL,
  project_id uuid,
  source_type text COLLATE "C" NOT NULL,
  source_project text COLLATE "C",
  target_project text COLLATE "C" NOT NULL,
  schema_version integer NOT NULL,
  dedupe_policy text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  chunks integer DEFAULT 0 NOT NULL,
  runs integer DEFAULT 0 NOT NULL,
  metrics integer DEFAULT 0 NOT NULL,
  attributes integer DEFAULT 0 NOT NULL,
  artifacts integer DEFAULT 0 NOT NULL,
  staged_bytes bigint DEFAULT 0 NOT NULL,
  final_received boolean DEFAULT false NOT NULL,
  warnings text DEFAULT '[]' NOT NULL,
  first_warnings text DEFAULT '[]' NOT NULL,
  warning_count integer DEFAULT 0 NOT NULL,
  is_planned boolean DEFAULT false NOT NULL,
  batches_done integer DEFAULT 0 NOT NULL,
  runs_stored integer DEFAULT 0 NOT NULL,
  runs_updated integer DEFAULT 0 NOT NULL,
  runs_skipped integer DEFAULT 0 NOT NULL,
  metrics_stored integer DEFAULT 0 NOT NULL,
  attributes_stored integer DEFAULT 0 NOT NULL,
  artifacts_stored integer DEFAULT 0 NOT NULL,
  identity bytea,
  turn bigint,
  fence integer DEFAULT 0 NOT NULL,
  leased_until timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
  error_code text COLLATE "C",
  error_message text,
  created_by_user_id uuid,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  completed_at timestamptz,
  CONSTRAINT jobs_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT jobs_dedupe_policy_check CHECK (dedupe_policy IN ('skip_existing', 'legacy')),
  CONSTRAINT jobs_id_check CHECK (id > 0),
  CONSTRAINT jobs_status_check CHECK (status IN ('created', 'uploading', 'dry_run_ready', 'committing', 'committed',
    'failed', 'cancelled', 'completed')),
  CONSTRAINT jobs_target_project_check CHECK (octet_length(target_project) >= 1 AND octet_length(target_project) <= 512)
) WITH (fillfactor=70);
COMMENT ON COLUMN imports.jobs.turn IS
  'its commit begins when no commit of the organization with a lower turn is left; NULL: it waits for none';
CREATE UNIQUE INDEX jobs_in_line ON imports.jobs (org_id, turn) WHERE status = 'committing' AND turn IS NOT NULL;
CREATE INDEX jobs_of_project ON imports.jobs (org_id, project_id, id DESC);
CREATE INDEX jobs_open ON imports.jobs (updated_at) WHERE status IN ('created', 'uploading', 'dry_run_ready', 'failed');
CREATE INDEX jobs_to_work_on ON imports.jobs (leased_until) WHERE status = 'committing';
SELECT platform.fence('imports.jobs');
SELECT platform.unfence_for('imports.jobs', 'tidemark_imports_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.jobs TO tidemark_imports;
GRANT SELECT (org_id, id, status, turn, leased_until, updated_at) ON TABLE imports.jobs TO tidemark_imports_worker;

CREATE TABLE imports.staged (
  org_id uuid NOT NULL,
  slot smallint NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT staged_pkey PRIMARY KEY (org_id, slot),
  CONSTRAINT staged_slot_check CHECK (slot >= 0 AND slot <= 15)
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE imports.staged IS
  'packed contents that are held: the sum over the slots, each of which may be negative';
COMMENT ON COLUMN imports.staged.slot IS 'of the connection that writes; a transaction writes one';
SELECT platform.fence('imports.staged');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE imports.staged TO tidemark_imports;
GRANT SELECT ON TABLE imports.staged TO tidemark_usage;

CREATE VIEW imports.usage_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, sum(s.bytes)::bigint AS staged_bytes FROM imports.staged s GROUP BY s.org_id;
COMMENT ON VIEW imports.usage_v1 IS
  'The bytes of chunks and of pieces of archives that wait for the end of their imports; no row: there never were '
  'any.';
GRANT SELECT ON TABLE imports.usage_v1 TO tidemark_usage;

CREATE FUNCTION imports.add_staged(org uuid, added bigint)
RETURNS void
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO imports.staged AS s (org_id, slot, bytes) VALUES (org, pg_backend_pid() % 16, added)
  ON CONFLICT (org_id, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
END
$function$;
COMMENT ON FUNCTION imports.add_staged IS 'Adds to the staged bytes of an organization.';
REVOKE ALL ON FUNCTION imports.add_staged FROM PUBLIC;
GRANT EXECUTE ON FUNCTION imports.add_staged TO tidemark_imports;

CREATE FUNCTION imports.count_staged()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM imports.add_staged(d.org_id, d.bytes)
    FROM (SELECT n.org_id, sum(octet_length(n.content)) AS bytes FROM now_staged n GROUP BY n.org_id ORDER BY n.org_id) d
    WHERE d.bytes <> 0;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM imports.add_staged(d.org_id, -d.bytes)
    FROM (SELECT o.org_id, sum(octet_length(o.content)) AS bytes FROM was_staged o GROUP BY o.org_id ORDER BY o.org_id) d
    WHERE d.bytes <> 0;
  ELSE
    PERFORM imports.add_staged(d.org_id, d.bytes)
    FROM (SELECT c.org_id, sum(c.bytes)::bigint AS bytes FROM (
            SELECT n.org_id, octet_length(n.content) AS bytes FROM now_staged n
            UNION ALL
            SELECT o.org_id, -octet_length(o.content) FROM was_staged o
          ) c GROUP BY c.org_id ORDER BY c.org_id) d
    WHERE d.bytes <> 0;
  END IF;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION imports.count_staged IS 'Counts what a statement has staged or removed.';
REVOKE ALL ON FUNCTION imports.count_staged FROM PUBLIC;

CREATE TRIGGER archive_pieces_count_added AFTER INSERT ON imports.archive_pieces
  REFERENCING NEW TABLE AS now_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE TRIGGER archive_pieces_count_changed AFTER UPDATE ON imports.archive_pieces
  REFERENCING OLD TABLE AS was_staged NEW TABLE AS now_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE TRIGGER archive_pieces_count_removed AFTER DELETE ON imports.archive_pieces
  REFERENCING OLD TABLE AS was_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE TRIGGER chunks_count_added AFTER INSERT ON imports.chunks
  REFERENCING NEW TABLE AS now_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE TRIGGER chunks_count_changed AFTER UPDATE ON imports.chunks
  REFERENCING OLD TABLE AS was_staged NEW TABLE AS now_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE TRIGGER chunks_count_removed AFTER DELETE ON imports.chunks
  REFERENCING OLD TABLE AS was_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged();

CREATE FUNCTION imports.follow_runs_v1(org uuid, run_ids uuid[], project_ids uuid[])
RETURNS integer
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  followed integer;
BEGIN
  WITH moved AS (
    DELETE FROM imports.imported_runs i USING unnest(run_ids, project_ids) AS w (run_id, project_id)
    WHERE i.org_id = org AND i.run_id = w.run_id AND i.project_id <> w.project_id
    RETURNING i.identity, i.run_id, w.project_id
  ), kept AS (
    INSERT INTO imports.imported_runs (org_id, project_id, identity, run_id)
    SELECT org, m.project_id, m.identity, m.run_id FROM moved m ORDER BY m.project_id, m.identity
    ON CONFLICT (org_id, project_id, identity) DO NOTHING
  )
  SELECT count(*) INTO followed FROM moved;
  RETURN followed;
END
$function$;
COMMENT ON FUNCTION imports.follow_runs_v1 IS
  'Lets imports find moved runs in the projects of their runs: one there with the same identity stays the one that is '
  'found. Returns how many it moved.';
REVOKE ALL ON FUNCTION imports.follow_runs_v1 FROM PUBLIC;
ALTER FUNCTION imports.follow_runs_v1 OWNER TO tidemark_imports;
GRANT EXECUTE ON FUNCTION imports.follow_runs_v1 TO tidemark_runs;

REVOKE CREATE ON SCHEMA imports FROM tidemark_imports;
