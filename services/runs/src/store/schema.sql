-- Schema runs: what a new database starts with.

CREATE SCHEMA runs;
GRANT USAGE ON SCHEMA runs TO tidemark_artifacts, tidemark_control, tidemark_control_worker, tidemark_definer,
  tidemark_imports, tidemark_ingest, tidemark_reports, tidemark_runs, tidemark_runs_worker, tidemark_traces,
  tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA runs TO tidemark_definer, tidemark_runs;

CREATE TABLE runs.kept_columns (
  org_id uuid NOT NULL,
  id uuid DEFAULT gen_random_uuid() NOT NULL,
  kind text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  places text[] NOT NULL,
  attribute_paths text[] COLLATE "C" NOT NULL,
  asked_at timestamptz DEFAULT now() NOT NULL,
  ready boolean DEFAULT false NOT NULL,
  boundary xid8,
  filled_to uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
  CONSTRAINT kept_columns_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT kept_columns_org_id_kind_path_key UNIQUE (org_id, kind, path),
  CONSTRAINT kept_columns_kind_check CHECK (kind IN ('config', 'attributes'))
) WITH (fillfactor=50);
COMMENT ON COLUMN runs.kept_columns.places IS 'where configs may have the value, as config_value takes it';
COMMENT ON COLUMN runs.kept_columns.attribute_paths IS
  'attributes that have the value where the config has none, best first';
COMMENT ON COLUMN runs.kept_columns.asked_at IS 'when a table was last sorted by it; at most an hour older than that';
COMMENT ON COLUMN runs.kept_columns.ready IS
  'all runs have their values; until then, those written since it was requested';
COMMENT ON COLUMN runs.kept_columns.boundary IS
  'transactions with lower numbers may have written without knowing of it; those from it on know it';
COMMENT ON COLUMN runs.kept_columns.filled_to IS 'runs that were there before have their values up to this one';
CREATE INDEX kept_columns_not_ready ON runs.kept_columns (asked_at) WHERE NOT ready;
SELECT platform.fence('runs.kept_columns');
SELECT platform.unfence_for('runs.kept_columns', 'tidemark_definer');
GRANT SELECT, DELETE ON TABLE runs.kept_columns TO tidemark_definer, tidemark_runs_worker;
GRANT SELECT (org_id, id, attribute_paths) ON TABLE runs.kept_columns TO tidemark_ingest;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.kept_columns TO tidemark_runs;

CREATE TABLE runs.kept_values (
  org_id uuid NOT NULL,
  column_id uuid NOT NULL,
  run_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  num double precision,
  txt text COLLATE "C",
  source smallint NOT NULL,
  attribute_id bigint NOT NULL,
  CONSTRAINT kept_values_pkey PRIMARY KEY (org_id, column_id, run_id),
  CONSTRAINT kept_values_org_id_column_id_fkey FOREIGN KEY (org_id, column_id) REFERENCES runs.kept_columns(org_id,
    id) ON DELETE CASCADE
);
COMMENT ON COLUMN runs.kept_values.created_at IS 'when the run was created, which orders equal values';
COMMENT ON COLUMN runs.kept_values.num IS 'as comparable returns it; null where the value has no order';
COMMENT ON COLUMN runs.kept_values.source IS
  '0 for the config, else the place of the attribute among attribute_paths; the lowest wins';
COMMENT ON COLUMN runs.kept_values.attribute_id IS 'of the attribute, 0 for the config; of one source the highest wins';
CREATE INDEX kept_values_down ON runs.kept_values (org_id, column_id, num, txt, created_at,
  run_id) WHERE num IS NOT NULL;
CREATE INDEX kept_values_up ON runs.kept_values (org_id, column_id, num, txt, created_at DESC,
  run_id DESC) WHERE num IS NOT NULL;
SELECT platform.fence('runs.kept_values');
SELECT platform.unfence_for('runs.kept_values', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE runs.kept_values TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.kept_values TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.kept_values TO tidemark_runs_worker;

CREATE TABLE runs.moved_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT moved_runs_pkey PRIMARY KEY (org_id, run_id)
);
COMMENT ON TABLE runs.moved_runs IS
  'Runs that were moved to another project a moment ago: rows of other services may still have the earlier one.';
SELECT platform.fence('runs.moved_runs');
SELECT platform.unfence_for('runs.moved_runs', 'tidemark_definer');
GRANT SELECT ON TABLE runs.moved_runs TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.moved_runs TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.moved_runs TO tidemark_runs_worker;

CREATE TABLE runs.project_numbers (
  org_id uuid NOT NULL,
  latest bigint NOT NULL,
  CONSTRAINT project_numbers_pkey PRIMARY KEY (org_id)
) WITH (fillfactor=50);
COMMENT ON TABLE runs.project_numbers IS 'The highest number that a project of the organization was given.';
SELECT platform.fence('runs.project_numbers');
GRANT SELECT, INSERT, UPDATE ON TABLE runs.project_numbers TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.project_numbers TO tidemark_runs_worker;

CREATE TABLE runs.projects (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  number bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  runs_running bigint DEFAULT 0 NOT NULL,
  runs_finished bigint DEFAULT 0 NOT NULL,
  runs_failed bigint DEFAULT 0 NOT NULL,
  runs_stopping bigint DEFAULT 0 NOT NULL,
  runs_finished_stopped bigint DEFAULT 0 NOT NULL,
  runs_failed_stopped bigint DEFAULT 0 NOT NULL,
  deleted_at timestamptz,
  purge_after timestamptz,
  runs_deleted bigint DEFAULT 0 NOT NULL,
  unsettled boolean DEFAULT false NOT NULL,
  texts_behind boolean DEFAULT false NOT NULL,
  metadata text DEFAULT '{}'::text NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(name) + coalesce(octet_length(description), 0)
    + coalesce(octet_length(nullif(metadata, '{}')), 0)) STORED NOT NULL,
  CONSTRAINT projects_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT projects_number UNIQUE (org_id, number),
  CONSTRAINT projects_name UNIQUE NULLS NOT DISTINCT (org_id, name, deleted_at),
  CONSTRAINT projects_check CHECK ((deleted_at IS NULL) = (purge_after IS NULL)),
  CONSTRAINT projects_description_check CHECK (octet_length(description) >= 1 AND octet_length(description) <= 512),
  CONSTRAINT projects_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 512),
  CONSTRAINT projects_runs_deleted_check CHECK (runs_deleted >= 0),
  CONSTRAINT projects_runs_failed_check CHECK (runs_failed >= 0),
  CONSTRAINT projects_runs_failed_stopped_check CHECK (runs_failed_stopped >= 0),
  CONSTRAINT projects_runs_finished_check CHECK (runs_finished >= 0),
  CONSTRAINT projects_runs_finished_stopped_check CHECK (runs_finished_stopped >= 0),
  CONSTRAINT projects_runs_running_check CHECK (runs_running >= 0),
  CONSTRAINT projects_runs_stopping_check CHECK (runs_stopping >= 0)
) WITH (fillfactor=70);
COMMENT ON COLUMN runs.projects.runs_running IS
  'runs by stored status, updated by each statement that creates a run or changes its status';
COMMENT ON COLUMN runs.projects.purge_after IS 'when everything is removed; until then the project can be restored';
COMMENT ON COLUMN runs.projects.runs_deleted IS
  'its runs that are hidden; the other counters are of those that are not';
COMMENT ON COLUMN runs.projects.unsettled IS 'some of its runs are not yet hidden, or shown again, as the project is';
COMMENT ON COLUMN runs.projects.texts_behind IS
  'what searches read of some of its runs has an earlier name of the project';
COMMENT ON COLUMN runs.projects.number IS 'given by number_project';
COMMENT ON COLUMN runs.projects.metadata IS 'compact JSON object, keys sorted, numbers as they were sent';
COMMENT ON COLUMN runs.projects.updated_at IS 'when name, description or metadata last changed';
COMMENT ON COLUMN runs.projects.bytes IS 'of name, description and metadata, 0 for empty metadata';
CREATE INDEX projects_deleted ON runs.projects (org_id, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX projects_to_remove ON runs.projects (purge_after) WHERE purge_after IS NOT NULL;
CREATE INDEX projects_unsettled ON runs.projects (org_id, id) WHERE unsettled OR texts_behind;
ALTER TABLE runs.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE runs.projects FORCE ROW LEVEL SECURITY;
SELECT platform.unfence_for('runs.projects', 'tidemark_definer');
SELECT platform.unfence_for('runs.projects', 'tidemark_runs_worker');
CREATE POLICY tenant ON runs.projects
  USING (org_id = platform.org_id() AND (deleted_at IS NULL OR platform.sees_deleted()))
  WITH CHECK (org_id = platform.org_id());
GRANT SELECT (org_id, id, name) ON TABLE runs.projects TO tidemark_artifacts, tidemark_control, tidemark_imports,
  tidemark_ingest, tidemark_reports, tidemark_traces;
GRANT SELECT (org_id, id, name, runs_running, runs_finished, runs_failed, deleted_at, runs_deleted, unsettled,
  texts_behind) ON TABLE runs.projects TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE (name, description, metadata, updated_at, runs_running, runs_finished, runs_failed, runs_stopping,
  runs_finished_stopped, runs_failed_stopped, deleted_at, purge_after, runs_deleted, unsettled,
  texts_behind) ON TABLE runs.projects TO tidemark_runs;
GRANT SELECT, UPDATE (purge_after, runs_deleted), DELETE ON TABLE runs.projects TO tidemark_runs_worker;
GRANT SELECT (org_id, runs_running, runs_finished, runs_failed, bytes) ON TABLE runs.projects TO tidemark_usage;
SELECT platform.count_stored('runs.projects', 'documents');

CREATE TABLE runs.readmes (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  markdown text NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(markdown)) STORED NOT NULL,
  CONSTRAINT readmes_pkey PRIMARY KEY (org_id, run_id),
  CONSTRAINT readmes_markdown_check CHECK (octet_length(markdown) >= 1 AND octet_length(markdown) <= 65536)
);
COMMENT ON TABLE runs.readmes IS 'The readme of a run; no row: it has none.';
SELECT platform.fence('runs.readmes');
SELECT platform.count_stored('runs.readmes', 'documents');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.readmes TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.readmes TO tidemark_runs_worker;
GRANT SELECT (org_id, bytes) ON TABLE runs.readmes TO tidemark_usage;

CREATE TABLE runs.run_copies (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  source_id uuid NOT NULL,
  project_id uuid NOT NULL,
  ingest json,
  artifacts json,
  traces json,
  failures integer DEFAULT 0 NOT NULL,
  due_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT run_copies_pkey PRIMARY KEY (org_id, run_id)
) WITH (fillfactor=50);
COMMENT ON TABLE runs.run_copies IS
  'Copies of runs that are being made. The run of a copy is made when everything else is copied, with which its row ends; '
  'until then nothing shows what the services have of it.';
COMMENT ON COLUMN runs.run_copies.run_id IS 'of the copy; taken';
COMMENT ON COLUMN runs.run_copies.ingest IS
  'how far each service is, as its copy_run_v1 returned it; null: not begun';
COMMENT ON COLUMN runs.run_copies.failures IS 'how often in a row a step failed';
COMMENT ON COLUMN runs.run_copies.due_at IS
  'when to continue after a failure. Without an index: a plan could prefer it to the key, and walk all copies for one';
SELECT platform.fence('runs.run_copies');
SELECT platform.unfence_for('runs.run_copies', 'tidemark_definer');
GRANT SELECT ON TABLE runs.run_copies TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.run_copies TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.run_copies TO tidemark_runs_worker;

CREATE TABLE runs.run_datasets (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  source_type text NOT NULL,
  source text NOT NULL,
  schema text NOT NULL,
  profile text NOT NULL,
  tags text NOT NULL,
  added_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(name) + octet_length(digest) + octet_length(source_type)
    + octet_length(source) + octet_length(schema) + octet_length(profile) + octet_length(tags)) STORED NOT NULL,
  CONSTRAINT run_datasets_pkey PRIMARY KEY (org_id, run_id, name, digest)
);
COMMENT ON TABLE runs.run_datasets IS 'Datasets that a run read: a description, not the data.';
COMMENT ON COLUMN runs.run_datasets.tags IS 'JSON object of texts';
SELECT platform.fence('runs.run_datasets');
SELECT platform.count_stored('runs.run_datasets', 'documents');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.run_datasets TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.run_datasets TO tidemark_runs_worker;
GRANT SELECT (org_id, bytes) ON TABLE runs.run_datasets TO tidemark_usage;

CREATE TABLE runs.run_ids (
  id uuid NOT NULL,
  org_id uuid NOT NULL,
  CONSTRAINT run_ids_pkey PRIMARY KEY (id)
);
SELECT platform.fence('runs.run_ids');
SELECT platform.unfence_for('runs.run_ids', 'tidemark_definer');
GRANT SELECT (id), INSERT ON TABLE runs.run_ids TO tidemark_definer;

CREATE TABLE runs.run_models (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  model_id uuid NOT NULL,
  step bigint NOT NULL,
  added_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT run_models_pkey PRIMARY KEY (org_id, run_id, direction, model_id, step),
  CONSTRAINT run_models_direction_check CHECK (direction IN ('input', 'output'))
);
COMMENT ON TABLE runs.run_models IS 'Logged models that a run used or made; a model need not exist any more.';
SELECT platform.fence('runs.run_models');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.run_models TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.run_models TO tidemark_runs_worker;

CREATE TABLE runs.run_texts (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  status text COLLATE "C" NOT NULL,
  display_status text COLLATE "C" NOT NULL,
  irregular boolean NOT NULL,
  name text COLLATE "C" NOT NULL,
  tags text[] COLLATE "C" NOT NULL,
  notes text COLLATE "C" NOT NULL,
  summary text COLLATE "C" NOT NULL,
  config text COLLATE "C" NOT NULL,
  metadata text COLLATE "C" NOT NULL,
  CONSTRAINT run_texts_pkey PRIMARY KEY (org_id, run_id)
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
COMMENT ON COLUMN runs.run_texts.irregular IS
  'holds U+212A or U+017F, which a regular expression that ignores case takes for k and s, or has more tags and '
  'notes than its summary: literals of an expression say nothing about it';
COMMENT ON COLUMN runs.run_texts.summary IS
  'project, name, tags, notes, status, id, and the status shown where it differs';
CREATE INDEX run_texts_by_status ON runs.run_texts (org_id, display_status, created_at DESC, run_id DESC);
CREATE INDEX run_texts_irregular ON runs.run_texts (org_id) WHERE irregular;
CREATE INDEX run_texts_newest ON runs.run_texts (org_id, created_at DESC, run_id DESC);
CREATE INDEX run_texts_newest_of_project ON runs.run_texts (org_id, project_id, created_at DESC, run_id DESC);
CREATE INDEX run_texts_words ON runs.run_texts USING gin (org_id, tags, summary public.gin_trgm_ops,
  notes public.gin_trgm_ops, config public.gin_trgm_ops, metadata public.gin_trgm_ops);
ALTER TABLE runs.run_texts ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON runs.run_texts
  USING (org_id = platform.org_id())
  WITH CHECK (org_id = platform.org_id());
ALTER TABLE runs.run_texts OWNER TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.run_texts TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.run_texts TO tidemark_runs_worker;

CREATE TABLE runs.runs (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  config text NOT NULL,
  tags text[] NOT NULL,
  metadata text NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  resume_count integer DEFAULT 0 NOT NULL,
  resumed_at timestamptz,
  lifecycle jsonb DEFAULT '[]'::jsonb NOT NULL,
  create_fingerprint bytea,
  parent_run_id uuid,
  forked_from_step double precision,
  forked_from_artifact_id uuid,
  stop_state text COLLATE "C" DEFAULT 'none' NOT NULL,
  stop_request_id uuid,
  stop_reason text,
  stop_completion_message text,
  stop_actor text,
  stop_requested_at timestamptz,
  stop_acknowledged_at timestamptz,
  stop_completed_at timestamptz,
  stop_updated_at timestamptz,
  display_status text COLLATE "C" GENERATED ALWAYS AS (
CASE
    WHEN status = 'running' AND (stop_state IN ('requested',
    'acknowledged')) THEN 'stopping'
    WHEN status <> 'running' AND stop_state = 'completed' THEN 'stopped'
    ELSE status
END) STORED NOT NULL,
  duration interval GENERATED ALWAYS AS (
CASE
    WHEN status <> 'running' THEN finished_at - started_at
    ELSE NULL::interval
END) STORED,
  changed_xid xid8 DEFAULT pg_current_xact_id(),
  fork_fingerprint bytea,
  hidden boolean DEFAULT false NOT NULL,
  deleted_at timestamptz,
  purge_after timestamptz,
  logged_tags text[] COLLATE "C" DEFAULT '{}'::text[] NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(name) + octet_length(config) + octet_length(metadata)
    + platform.text_bytes(tags)) STORED NOT NULL,
  CONSTRAINT runs_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT runs_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES runs.projects(org_id, id),
  CONSTRAINT runs_check CHECK (status = 'running' OR finished_at IS NOT NULL),
  CONSTRAINT runs_check1 CHECK ((stop_state = 'none') = (stop_request_id IS NULL)),
  CONSTRAINT runs_check2 CHECK ((deleted_at IS NULL) = (purge_after IS NULL)),
  CONSTRAINT runs_check3 CHECK (hidden OR deleted_at IS NULL),
  CONSTRAINT runs_create_fingerprint_check CHECK (octet_length(create_fingerprint) = 32),
  CONSTRAINT runs_fork_fingerprint_check CHECK (octet_length(fork_fingerprint) = 32),
  CONSTRAINT runs_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 1024),
  CONSTRAINT runs_status_check CHECK (status IN ('running', 'finished', 'failed')),
  CONSTRAINT runs_stop_actor_check CHECK (stop_actor IN ('user', 'api_key', 'local', 'unknown')),
  CONSTRAINT runs_stop_state_check CHECK (stop_state IN ('none', 'requested', 'acknowledged', 'completed',
    'terminal_without_completion'))
);
COMMENT ON COLUMN runs.runs.config IS 'compact JSON object, keys sorted, numbers as they were sent';
COMMENT ON COLUMN runs.runs.metadata IS 'as config; the member notes holds the notes of the run';
COMMENT ON COLUMN runs.runs.lifecycle IS 'the last 20 resumes, oldest first';
COMMENT ON COLUMN runs.runs.create_fingerprint IS
  'SHA-256 of the create request; null when the client gave no id, and for forks';
COMMENT ON COLUMN runs.runs.changed_xid IS 'set by default and trigger, so that no writer of runs can forget it';
COMMENT ON COLUMN runs.runs.fork_fingerprint IS 'SHA-256 of the keyed fork request; null for other runs';
COMMENT ON COLUMN runs.runs.hidden IS 'it was deleted, or its project was';
COMMENT ON COLUMN runs.runs.deleted_at IS
  'when the run itself was deleted; null for one that is hidden with its project';
COMMENT ON COLUMN runs.runs.logged_tags IS
  'texts of the attributes sys/tags and sys/group_tags, each once, as they arrived: at most 256 of at most 512 bytes';
COMMENT ON COLUMN runs.runs.bytes IS 'of name, config, metadata and tags';
CREATE INDEX runs_by_duration ON runs.runs (org_id, duration DESC, created_at DESC, id DESC);
CREATE INDEX runs_by_duration_of_project ON runs.runs (org_id, project_id, duration DESC, created_at DESC, id DESC);
CREATE INDEX runs_by_name ON runs.runs (org_id, name, created_at DESC, id DESC);
CREATE INDEX runs_by_name_of_project ON runs.runs (org_id, project_id, name, created_at DESC, id DESC);
CREATE INDEX runs_by_status ON runs.runs (org_id, display_status, name, created_at DESC, id DESC);
CREATE INDEX runs_by_status_of_project ON runs.runs (org_id, project_id, display_status, name, created_at DESC,
  id DESC);
CREATE INDEX runs_changed ON runs.runs (changed_xid, id) WHERE changed_xid IS NOT NULL;
CREATE INDEX runs_children ON runs.runs (org_id, parent_run_id, created_at DESC,
  id DESC) INCLUDE (project_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX runs_deleted ON runs.runs (org_id, created_at DESC, id DESC) WHERE deleted_at IS NOT NULL;
CREATE INDEX runs_hidden_with_project ON runs.runs (org_id, project_id, id) WHERE hidden AND deleted_at IS NULL;
CREATE INDEX runs_newest ON runs.runs (org_id, created_at DESC, id DESC);
CREATE INDEX runs_newest_of_project ON runs.runs (org_id, project_id, created_at DESC, id DESC);
CREATE INDEX runs_running ON runs.runs (org_id, id) WHERE status = 'running';
CREATE INDEX runs_to_remove ON runs.runs (purge_after) WHERE purge_after > '-infinity'::timestamptz;
ALTER TABLE runs.runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE runs.runs FORCE ROW LEVEL SECURITY;
SELECT platform.unfence_for('runs.runs', 'tidemark_definer');
SELECT platform.unfence_for('runs.runs', 'tidemark_runs_worker');
CREATE POLICY tenant ON runs.runs
  USING (org_id = platform.org_id() AND (NOT hidden OR platform.sees_deleted()))
  WITH CHECK (org_id = platform.org_id());
GRANT SELECT (org_id, id, project_id, name, created_at, display_status) ON TABLE runs.runs TO tidemark_artifacts,
  tidemark_ingest, tidemark_traces;
GRANT SELECT (org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at,
  stop_acknowledged_at) ON TABLE runs.runs TO tidemark_control;
GRANT SELECT (org_id, id, project_id, status, created_at, stop_state, stop_request_id, stop_requested_at,
  stop_acknowledged_at, changed_xid, hidden, deleted_at), UPDATE (changed_xid) ON TABLE runs.runs TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE (project_id, name, status, config, tags, metadata, finished_at, resume_count, resumed_at, lifecycle,
  stop_state, stop_request_id, stop_reason, stop_completion_message, stop_actor, stop_requested_at,
  stop_acknowledged_at, stop_completed_at, stop_updated_at, hidden, deleted_at, purge_after,
  logged_tags) ON TABLE runs.runs TO tidemark_runs;
GRANT SELECT, UPDATE (deleted_at, purge_after), DELETE ON TABLE runs.runs TO tidemark_runs_worker;
GRANT SELECT (org_id, bytes) ON TABLE runs.runs TO tidemark_usage;
SELECT platform.count_stored('runs.runs', 'documents');

CREATE TABLE runs.signs_of_life (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  CONSTRAINT signs_of_life_pkey PRIMARY KEY (org_id, run_id)
) WITH (fillfactor=50, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE runs.signs_of_life IS
  'The last write or poll of a run, as gateways report it each minute; no row: none since it was created or '
  'resumed.';
SELECT platform.fence('runs.signs_of_life');
SELECT platform.unfence_for('runs.signs_of_life', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE ON TABLE runs.signs_of_life TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE runs.signs_of_life TO tidemark_runs;
GRANT SELECT, DELETE ON TABLE runs.signs_of_life TO tidemark_runs_worker;

CREATE TABLE runs.visibility_changes (
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  run_id uuid,
  at timestamptz DEFAULT clock_timestamp() NOT NULL
);
COMMENT ON TABLE runs.visibility_changes IS
  'Runs that were hidden or shown again within the last hours; no run: all of the project.';
CREATE INDEX visibility_changes_newest ON runs.visibility_changes (xid);
SELECT platform.fence('runs.visibility_changes');
SELECT platform.unfence_for('runs.visibility_changes', 'tidemark_definer');
GRANT SELECT, DELETE ON TABLE runs.visibility_changes TO tidemark_definer, tidemark_runs_worker;
GRANT INSERT ON TABLE runs.visibility_changes TO tidemark_runs;

CREATE VIEW runs.found_runs AS SELECT * FROM runs.run_texts WHERE org_id = platform.org_id();
COMMENT ON VIEW runs.found_runs IS
  'What searches read, with the rights of its owner, a role without login: row level security would keep PostgreSQL '
  'from using the indexes. Compares the organization itself.';
ALTER VIEW runs.found_runs OWNER TO tidemark_definer;
GRANT SELECT ON TABLE runs.found_runs TO tidemark_runs;

CREATE VIEW runs.kept_paths_v1 WITH (security_invoker = true) AS
SELECT c.org_id, c.id AS column_id, p.path, p.place::smallint AS source
FROM runs.kept_columns c CROSS JOIN LATERAL unnest(c.attribute_paths) WITH ORDINALITY AS p (path, place);
COMMENT ON VIEW runs.kept_paths_v1 IS
  'The paths of attributes whose newest values are kept: changes of them go to note_attributes_v1.';
GRANT SELECT ON TABLE runs.kept_paths_v1 TO tidemark_definer, tidemark_ingest;

CREATE VIEW runs.project_refs_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, name FROM runs.projects;
COMMENT ON VIEW runs.project_refs_v1 IS 'The projects that API keys can be bound to.';
GRANT SELECT ON TABLE runs.project_refs_v1 TO tidemark_artifacts, tidemark_control, tidemark_imports, tidemark_ingest,
  tidemark_reports, tidemark_traces;

CREATE VIEW runs.run_control_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
  FROM runs.runs;
COMMENT ON VIEW runs.run_control_v1 IS
  'The control state of runs, for the control service: of its transaction''s organization only, because the view '
  'checks rights and rows as its reader.';
GRANT SELECT ON TABLE runs.run_control_v1 TO tidemark_control;

CREATE VIEW runs.run_labels_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, name, display_status FROM runs.runs;
COMMENT ON VIEW runs.run_labels_v1 IS 'How a run is called where others refer to it.';
GRANT SELECT ON TABLE runs.run_labels_v1 TO tidemark_artifacts, tidemark_ingest, tidemark_traces;

CREATE VIEW runs.run_refs_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, created_at FROM runs.runs;
COMMENT ON VIEW runs.run_refs_v1 IS 'Whether a run exists, and in which project, for writes of run data.';
GRANT SELECT ON TABLE runs.run_refs_v1 TO tidemark_artifacts, tidemark_ingest, tidemark_traces;

CREATE VIEW runs.stored_rows_v1 WITH (security_invoker = true) AS
  SELECT r.org_id, 'documents'::text AS kind, r.bytes::bigint AS amount FROM runs.runs r
  UNION ALL SELECT p.org_id, 'documents', p.bytes FROM runs.projects p
  UNION ALL SELECT m.org_id, 'documents', m.bytes FROM runs.readmes m
  UNION ALL SELECT d.org_id, 'documents', d.bytes FROM runs.run_datasets d;
COMMENT ON VIEW runs.stored_rows_v1 IS
  'The logical bytes of each row that is stored, of deleted ones where the transaction sees these. Reads everything: '
  'for recounts.';
GRANT SELECT ON TABLE runs.stored_rows_v1 TO tidemark_usage;

CREATE VIEW runs.usage_v1 WITH (security_invoker = false) AS
  SELECT p.org_id, count(*) AS projects,
         sum(p.runs_running + p.runs_finished + p.runs_failed + p.runs_deleted)::bigint AS runs
  FROM runs.projects p WHERE p.org_id = platform.org_id() GROUP BY p.org_id;
COMMENT ON VIEW runs.usage_v1 IS
  'How many projects and runs the organization has, deleted ones included; no row: none. With the rights of its '
  'owner, a role without login, because row level security hides what is deleted. Compares the organization itself.';
ALTER VIEW runs.usage_v1 OWNER TO tidemark_definer;
GRANT SELECT ON TABLE runs.usage_v1 TO tidemark_runs, tidemark_usage;

CREATE FUNCTION runs.adopt_changes_v1(batch integer)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
SET enable_sort TO 'off'
AS $function$
DECLARE
  due record;
  adopted bigint := 0;
BEGIN
  FOR due IN
    SELECT f.org_id, f.id FROM runs.runs f
    WHERE f.changed_xid >= pg_snapshot_xmax(pg_current_snapshot())
    ORDER BY f.changed_xid, f.id LIMIT batch
  LOOP
    UPDATE runs.runs r SET changed_xid = pg_current_xact_id()
    WHERE r.org_id = due.org_id AND r.id = due.id AND r.changed_xid >= pg_snapshot_xmax(pg_current_snapshot());
    adopted := adopted + FOUND::integer;
  END LOOP;
  RETURN adopted;
END
$function$;
COMMENT ON FUNCTION runs.adopt_changes_v1 IS
  'Rows from another server (a restored dump) carry transaction numbers that this server has not reached; every '
  'look for changes would return them until it has. Gives some of them a number of this server and returns how '
  'many.';
REVOKE ALL ON FUNCTION runs.adopt_changes_v1 FROM PUBLIC;
ALTER FUNCTION runs.adopt_changes_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.adopt_changes_v1 TO tidemark_control_worker;

CREATE FUNCTION runs.ask_column(org uuid, of_kind text, of_path text, in_places text[], in_attributes text[])
RETURNS boolean
LANGUAGE plpgsql
AS $function$
DECLARE
  -- So few runs are looked up in some milliseconds.
  runs_min constant bigint := 1000;
  columns_max constant bigint := 16;
BEGIN
  UPDATE runs.kept_columns c SET asked_at = now()
  WHERE c.org_id = org AND c.kind = of_kind AND c.path = of_path AND c.asked_at < now() - interval '1 hour';
  IF EXISTS (SELECT FROM runs.kept_columns c WHERE c.org_id = org AND c.kind = of_kind AND c.path = of_path) THEN
    RETURN false;
  END IF;
  IF runs_min > (SELECT coalesce(sum(p.runs_running + p.runs_finished + p.runs_failed), 0) FROM runs.projects p WHERE p.org_id = org) THEN
    RETURN false;
  END IF;
  IF columns_max <= (SELECT count(*) FROM runs.kept_columns c WHERE c.org_id = org) THEN
    DELETE FROM runs.kept_columns c
    WHERE c.org_id = org AND c.id = (SELECT o.id FROM runs.kept_columns o
                                     WHERE o.org_id = org AND o.asked_at < now() - interval '1 hour' ORDER BY o.asked_at LIMIT 1);
    IF NOT FOUND THEN
      RETURN false;
    END IF;
  END IF;
  INSERT INTO runs.kept_columns (org_id, kind, path, places, attribute_paths)
  VALUES (org, of_kind, of_path, in_places, in_attributes) ON CONFLICT DO NOTHING;
  RETURN true;
END
$function$;
COMMENT ON FUNCTION runs.ask_column IS
  'Notes that a table was sorted by a column, and returns whether it is to be kept from now on. An organization has '
  '16 at most; a further one replaces the one with the oldest request, if that is an hour old.';
REVOKE ALL ON FUNCTION runs.ask_column FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.ask_column TO tidemark_runs;

CREATE FUNCTION runs.changed_page_v1(since pg_snapshot, after_xid xid8, after_run uuid, page_size integer)
RETURNS TABLE(snapshot text, changed_xid text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
  stop_request_id uuid, stop_requested_at timestamp with time zone, stop_acknowledged_at timestamp with time zone)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
SET enable_sort TO 'off'
AS $function$
DECLARE
  left_over integer := page_size;
  returned integer;
  first_xid xid8;
  last_xid xid8;
  first_run uuid;
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  -- Exactly what pg_visible_in_snapshot denies: the changes of transactions that were open then, and of those that began
  -- later. Those between them, of all the time that the oldest was open, the reader has.
  FOR first_xid, last_xid IN
    SELECT x, x FROM pg_snapshot_xip(since) AS x WHERE x >= after_xid
    UNION ALL
    SELECT greatest(pg_snapshot_xmax(since), after_xid), '18446744073709551615'
    ORDER BY 1
  LOOP
    first_run := CASE WHEN first_xid = after_xid THEN after_run ELSE '00000000-0000-0000-0000-000000000000' END;
    RETURN QUERY
      SELECT NULL::text, r.changed_xid::text, r.org_id, r.id, r.project_id,
             CASE WHEN r.hidden THEN 'deleted' ELSE r.status END, r.stop_state, r.stop_request_id, r.stop_requested_at,
             r.stop_acknowledged_at
      FROM runs.runs r
      -- With one lower bound: of two, PostgreSQL may begin to read at the one that is further away.
      WHERE (r.changed_xid, r.id) >= (first_xid, first_run) AND r.changed_xid <= last_xid
        AND (r.changed_xid <> after_xid OR r.id <> after_run)
      ORDER BY r.changed_xid, r.id LIMIT left_over;
    GET DIAGNOSTICS returned = ROW_COUNT;
    left_over := left_over - returned;
    EXIT WHEN left_over = 0;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION runs.changed_page_v1 IS
  'Returns a page of the runs whose last change the given snapshot did not see, of any status, in the order '
  '(changed_xid, id), behind the given position. Hidden ones have the status deleted. The first row has the '
  'snapshot that saw them and no run. A reader that continues with the snapshot of its first page misses nothing, in '
  'any order of commits, and gets nothing twice.';
REVOKE ALL ON FUNCTION runs.changed_page_v1 FROM PUBLIC;
ALTER FUNCTION runs.changed_page_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.changed_page_v1 TO tidemark_control;

CREATE FUNCTION runs.columns_to_fill()
RETURNS TABLE(org_id uuid, id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT c.org_id, c.id FROM runs.kept_columns c WHERE NOT c.ready ORDER BY c.asked_at LIMIT 100;
$function$;
COMMENT ON FUNCTION runs.columns_to_fill IS 'Returns columns of any organizations that are not ready.';
REVOKE ALL ON FUNCTION runs.columns_to_fill FROM PUBLIC;
ALTER FUNCTION runs.columns_to_fill OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.columns_to_fill TO tidemark_runs;

CREATE FUNCTION runs.comparable(value json, OUT num double precision, OUT txt text)
RETURNS record
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  document text := value;
BEGIN
  CASE coalesce(json_typeof(value), 'null')
    WHEN 'number' THEN
      txt := '';
      IF document ~ '[eE]-?[0-9]{3}' OR length(document) > 300 THEN
        BEGIN
          num := document::float8;
        EXCEPTION WHEN numeric_value_out_of_range THEN
          -- As JSON numbers are read elsewhere: too small is 0, too large infinite.
          num := CASE WHEN document::numeric BETWEEN -1 AND 1 THEN 0.0::float8
                      WHEN document LIKE '-%' THEN '-Infinity' ELSE 'Infinity' END;
        END;
      ELSE
        num := document::float8;
      END IF;
      IF abs(num) >= 9007199254740992 AND abs(num) < 'Infinity' THEN
        -- From 2^53 on several integers are one double: these are ordered by their digits, all with one number of them.
        txt := lpad(trunc(abs(document::numeric))::text, length(trunc(abs(num)::numeric)::text) + 1, '0');
        IF num < 0 THEN
          txt := translate(txt, '0123456789', '9876543210');
        END IF;
      END IF;
    WHEN 'string' THEN
      num := 'NaN';
      IF strpos(document, '\u') > 0 THEN
        document := regexp_replace(document, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g');
      END IF;
      txt := left(document::json #>> '{}', 512);
    WHEN 'boolean' THEN
      num := 'NaN';
      txt := document;
    ELSE
      NULL;
  END CASE;
END
$function$;
COMMENT ON FUNCTION runs.comparable IS
  'Returns what a JSON value compares as: a number with a text that orders the integers of one double, empty below '
  '2^53; a text with NaN, which is above every number, the first 512 characters of it; true and false as texts. '
  'Nothing for null, lists and objects, which have no order.';
REVOKE ALL ON FUNCTION runs.comparable FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.comparable TO tidemark_definer, tidemark_runs;

CREATE FUNCTION runs.config_names(config text)
RETURNS SETOF text
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH RECURSIVE members (name, value) AS (
    SELECT e.key, e.value FROM json_each(config::json) e
    UNION ALL
    SELECT m.name || '.' || e.key, e.value
    FROM members m CROSS JOIN LATERAL json_each(CASE WHEN json_typeof(m.value) = 'object' THEN m.value ELSE '{}' END) e
    WHERE octet_length(m.name) < 512
  )
  SELECT m.name FROM members m
  WHERE (json_typeof(m.value) <> 'object' OR m.value::text = '{}') AND octet_length(m.name) BETWEEN 1 AND 512
$function$;
COMMENT ON FUNCTION runs.config_names IS
  'Returns the keys of a config, nested ones joined by points, but for those whose values are objects with members, '
  'and those that are too long for the name of a column.';
REVOKE ALL ON FUNCTION runs.config_names FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.config_names TO tidemark_runs;

CREATE FUNCTION runs.config_value(config text, places text[])
RETURNS json
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE STRICT
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  place text;
  name text;
  names text[];
  found json;
BEGIN
  FOREACH place IN ARRAY places LOOP
    names := string_to_array(place, chr(1));
    -- A document without the name is not parsed: keys are written as to_json writes them.
    CONTINUE WHEN strpos(config, to_json(names[1])::text || ':') = 0;
    IF strpos(config, '\u') > 0 THEN
      -- NUL and lone surrogates, which no text can have, are replaced.
      config := regexp_replace(config, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g');
    END IF;
    found := config;
    FOREACH name IN ARRAY names LOOP
      found := found -> name;
      EXIT WHEN found IS NULL;
    END LOOP;
    IF found IS NOT NULL THEN
      RETURN found;
    END IF;
  END LOOP;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION runs.config_value IS
  'Returns what a config has at the first of some places that it has; null: at none of them. A place is keys, '
  'joined by the character 1, from the outermost on. NUL and lone surrogates are read as U+FFFD.';
REVOKE ALL ON FUNCTION runs.config_value FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.config_value TO tidemark_runs;

CREATE FUNCTION runs.copying_organizations()
RETURNS TABLE(org_id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT DISTINCT c.org_id FROM runs.run_copies c LIMIT 100;
$function$;
COMMENT ON FUNCTION runs.copying_organizations IS 'Returns organizations with rows in run_copies.';
REVOKE ALL ON FUNCTION runs.copying_organizations FROM PUBLIC;
ALTER FUNCTION runs.copying_organizations OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.copying_organizations TO tidemark_runs;

CREATE FUNCTION runs.create_runs(org uuid, project_name text, only_project uuid, runs_max bigint, ids uuid[],
  names text[], name_words text[], configs text[], tag_lists text[], metadatas text[], fingerprints bytea[])
RETURNS TABLE(run uuid, project uuid, project_number bigint, run_name text, at timestamp with time zone)
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  home uuid;
  home_number bigint;
  taken uuid[];
  numbered bigint;
  since timestamptz;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT p.id, p.number INTO home, home_number FROM runs.projects p
  WHERE p.org_id = org AND p.name = project_name AND (only_project IS NULL OR p.id = only_project);
  IF home IS NULL THEN
    RETURN;
  END IF;
  IF runs_max IS NOT NULL THEN
    IF runs_max < (SELECT u.runs FROM runs.usage_v1 u WHERE u.org_id = org) THEN
      RETURN;
    END IF;
  END IF;
  taken := ARRAY(SELECT runs.take_run_ids(ids, org));
  IF taken = '{}' THEN
    RETURN;
  END IF;

  -- From here until the commit creates in this project wait for each other. The time is read after that wait, so that
  -- it rises with the number.
  UPDATE runs.projects p SET runs_running = p.runs_running + cardinality(taken)
  WHERE p.org_id = org AND p.id = home
  RETURNING p.runs_running + p.runs_finished + p.runs_failed + p.runs_deleted - cardinality(taken), clock_timestamp()
  INTO STRICT numbered, since;

  RETURN QUERY
  INSERT INTO runs.runs AS r (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                              create_fingerprint)
  SELECT org, n.id, home, coalesce(n.name, n.words || '-' || numbered + n.place), 'running', n.config,
         ARRAY(SELECT json_array_elements_text(n.tags::json)), n.metadata, n.at, n.at, n.fingerprint
  FROM (
    SELECT u.*, since + u.place * interval '1 microsecond' AS at
    FROM (
      SELECT w.*, row_number() OVER (ORDER BY w.ordinal) AS place
      FROM unnest(ids, names, name_words, configs, tag_lists, metadatas, fingerprints)
           WITH ORDINALITY AS w (id, name, words, config, tags, metadata, fingerprint, ordinal)
      WHERE w.id = ANY (taken)
    ) u
  ) n
  ORDER BY n.place
  RETURNING r.id, r.project_id, home_number, r.name, r.created_at;
END
$function$;
COMMENT ON FUNCTION runs.create_runs IS
  'Creates runs in a project and returns them. Left out are runs whose id is taken, and all of them if the '
  'organization has no such project, it is not only_project, or the organization has more than runs_max runs. Runs '
  'get their numbers in the given order, and names of name_words and number where names has none.';
REVOKE ALL ON FUNCTION runs.create_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.create_runs TO tidemark_runs;

CREATE FUNCTION runs.deleted_projects_v1(org uuid)
RETURNS SETOF uuid
LANGUAGE plpgsql
STABLE SECURITY DEFINER ROWS 10
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN QUERY SELECT p.id FROM runs.projects p WHERE p.org_id = org AND p.deleted_at IS NOT NULL;
END
$function$;
COMMENT ON FUNCTION runs.deleted_projects_v1 IS 'The projects of an organization that are deleted and not removed yet.';
REVOKE ALL ON FUNCTION runs.deleted_projects_v1 FROM PUBLIC;
ALTER FUNCTION runs.deleted_projects_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.deleted_projects_v1 TO tidemark_reports, tidemark_usage;

CREATE FUNCTION runs.deleted_runs(org uuid, project uuid)
RETURNS TABLE(id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT r.id FROM runs.runs r
  CROSS JOIN LATERAL (SELECT FROM runs.projects p
                      WHERE p.org_id = r.org_id AND p.id = r.project_id AND p.deleted_at IS NULL OFFSET 0) live
  WHERE r.org_id = org AND org = platform.org_id() AND r.deleted_at IS NOT NULL AND (project IS NULL OR r.project_id = project);
$function$;
COMMENT ON FUNCTION runs.deleted_runs IS
  'Returns the runs that were deleted themselves, of a project or of all projects that are not deleted, so that '
  'counters which still hold them can be corrected.';
REVOKE ALL ON FUNCTION runs.deleted_runs FROM PUBLIC;
ALTER FUNCTION runs.deleted_runs OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.deleted_runs TO tidemark_runs;

CREATE FUNCTION runs.fill_column(org uuid, of_id uuid, runs_max integer)
RETURNS text
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  filling runs.kept_columns;
  page uuid[];
BEGIN
  SELECT * INTO filling FROM runs.kept_columns c WHERE c.org_id = org AND c.id = of_id AND NOT c.ready FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN 'done';
  END IF;
  -- The number of this transaction, which a restored dump would not have reached.
  IF filling.boundary IS NULL OR filling.boundary > pg_current_xact_id() THEN
    UPDATE runs.kept_columns c SET boundary = pg_current_xact_id() WHERE c.org_id = org AND c.id = of_id;
    RETURN 'waiting';
  END IF;
  IF pg_snapshot_xmin(pg_current_snapshot()) <= filling.boundary THEN
    RETURN 'waiting';
  END IF;
  page := ARRAY(SELECT r.id FROM runs.runs r WHERE r.org_id = org AND r.id > filling.filled_to ORDER BY r.id LIMIT runs_max);
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT org, of_id, r.id, r.created_at, k.num, k.txt, f.source, f.id
  FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT o.id, o.created_at, o.config FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) r
  CROSS JOIN LATERAL (
    SELECT c.value, c.source, c.id FROM (
      SELECT runs.config_value(r.config, filling.places) AS value, 0 AS source, 0::bigint AS id
      UNION ALL
      SELECT a.value, p.place, a.id FROM unnest(filling.attribute_paths) WITH ORDINALITY AS p (path, place)
      CROSS JOIN LATERAL (SELECT o.value, o.id FROM ingest.attribute_values_v1 o
                          WHERE o.org_id = org AND o.run_id = r.id AND o.path = p.path ORDER BY o.id DESC LIMIT 1) a
    ) c WHERE c.value IS NOT NULL ORDER BY c.source LIMIT 1
  ) f
  CROSS JOIN LATERAL runs.comparable(f.value) k
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE
  SET num = excluded.num, txt = excluded.txt, source = excluded.source, attribute_id = excluded.attribute_id
  WHERE (v.source, -v.attribute_id) > (excluded.source, -excluded.attribute_id);
  UPDATE runs.kept_columns c SET ready = cardinality(page) < runs_max, filled_to = coalesce(page[cardinality(page)], c.filled_to)
  WHERE c.org_id = org AND c.id = of_id;
  RETURN CASE WHEN cardinality(page) < runs_max THEN 'done' ELSE 'more' END;
END
$function$;
COMMENT ON FUNCTION runs.fill_column IS
  'Keeps the values of a page of runs that existed before the column was requested, in a transaction that sees '
  'hidden runs. Returns more, done, or waiting for transactions that may not know of the column.';
REVOKE ALL ON FUNCTION runs.fill_column FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.fill_column TO tidemark_runs;

CREATE FUNCTION runs.finish_copy(org uuid, source uuid, copy uuid, project uuid, new_metadata text, ingested json)
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  now_status constant text := (SELECT r.status FROM runs.runs r WHERE r.org_id = org AND r.id = source);
BEGIN
  UPDATE runs.projects p SET
    runs_running = p.runs_running + (now_status = 'running')::integer,
    runs_finished = p.runs_finished + (now_status = 'finished')::integer,
    runs_failed = p.runs_failed + (now_status = 'failed')::integer
  WHERE p.org_id = org AND p.id = project AND now_status IS NOT NULL;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  -- No process runs that could stop the copy: a stop request stays with the source.
  INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at,
                         resume_count, resumed_at, lifecycle, parent_run_id, forked_from_step, forked_from_artifact_id,
                         stop_state, stop_request_id, stop_reason, stop_completion_message, stop_actor, stop_requested_at,
                         stop_acknowledged_at, stop_completed_at, stop_updated_at, logged_tags)
  SELECT org, copy, project, r.name, r.status, r.config, r.tags, new_metadata, r.created_at, r.started_at, r.finished_at,
         r.resume_count, r.resumed_at, r.lifecycle, r.parent_run_id, r.forked_from_step, r.forked_from_artifact_id,
         coalesce(s.stop_state, 'none'), s.stop_request_id, s.stop_reason, s.stop_completion_message, s.stop_actor,
         s.stop_requested_at, s.stop_acknowledged_at, s.stop_completed_at, s.stop_updated_at, r.logged_tags
  FROM runs.runs r
  LEFT JOIN LATERAL (SELECT o.* FROM runs.runs o
                     WHERE o.org_id = org AND o.id = source AND o.status <> 'running' OFFSET 0) s ON true
  WHERE r.org_id = org AND r.id = source;
  INSERT INTO runs.readmes (org_id, run_id, markdown)
  SELECT org, copy, m.markdown FROM runs.readmes m WHERE m.org_id = org AND m.run_id = source;
  INSERT INTO runs.run_datasets (org_id, run_id, name, digest, source_type, source, schema, profile, tags, added_at)
  SELECT org, copy, d.name, d.digest, d.source_type, d.source, d.schema, d.profile, d.tags, d.added_at
  FROM runs.run_datasets d WHERE d.org_id = org AND d.run_id = finish_copy.source;
  INSERT INTO runs.run_models (org_id, run_id, direction, model_id, step, added_at)
  SELECT org, copy, m.direction, m.model_id, m.step, m.added_at
  FROM runs.run_models m WHERE m.org_id = org AND m.run_id = source;

  -- After this transaction has its number, and in a snapshot of its own: fill_column relies on both.
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT org, c.id, copy, r.created_at, k.num, k.txt, f.place, f.id
  FROM (SELECT w.id, w.attribute_paths FROM runs.kept_columns w WHERE w.org_id = org AND w.attribute_paths <> '{}' OFFSET 0) c
  CROSS JOIN LATERAL (SELECT o.created_at FROM runs.runs o WHERE o.org_id = org AND o.id = copy OFFSET 0) r
  CROSS JOIN LATERAL (
    SELECT a.value, p.place, a.id FROM unnest(c.attribute_paths) WITH ORDINALITY AS p (path, place)
    CROSS JOIN LATERAL (SELECT o.value, o.id FROM ingest.attribute_values_v1 o
                        WHERE o.org_id = org AND o.run_id = copy AND o.path = p.path ORDER BY o.id DESC LIMIT 1) a
    ORDER BY p.place LIMIT 1
  ) f
  CROSS JOIN LATERAL runs.comparable(f.value) k
  ON CONFLICT (org_id, column_id, run_id) DO NOTHING;

  DELETE FROM runs.run_copies c WHERE c.org_id = org AND c.run_id = copy;
  -- Last, because writes of points may wait for the counters until all is committed.
  PERFORM ingest.finish_copy_v1(org, copy, project, ingested);
  RETURN true;
END
$function$;
COMMENT ON FUNCTION runs.finish_copy IS
  'Makes the run of a copy whose data is all there, with readme, inputs and outputs, from the source, which is '
  'locked, and ends the copy. ingested is how far ingest came. False, and nothing is changed, where the source or the project is deleted.';
REVOKE ALL ON FUNCTION runs.finish_copy FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.finish_copy TO tidemark_runs;

CREATE FUNCTION runs.forget_columns()
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  DELETE FROM runs.kept_columns c WHERE c.asked_at < now() - interval '7 days';
$function$;
COMMENT ON FUNCTION runs.forget_columns IS
  'Forgets columns, of any organization, that were not requested in seven days.';
REVOKE ALL ON FUNCTION runs.forget_columns FROM PUBLIC;
ALTER FUNCTION runs.forget_columns OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.forget_columns TO tidemark_runs;

CREATE FUNCTION runs.forget_visibility_changes(older_than interval)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  DELETE FROM runs.visibility_changes c WHERE c.at < clock_timestamp() - older_than;
$function$;
COMMENT ON FUNCTION runs.forget_visibility_changes IS 'Removes old rows, which all readers have seen.';
REVOKE ALL ON FUNCTION runs.forget_visibility_changes FROM PUBLIC;
ALTER FUNCTION runs.forget_visibility_changes OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.forget_visibility_changes TO tidemark_runs;

CREATE FUNCTION runs.index_changed_run()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
SET gin_pending_list_limit TO '256'
AS $function$
DECLARE
  texts runs.run_texts;
  old_state text := CASE WHEN OLD.display_status <> OLD.status THEN OLD.status ELSE '' END;
  new_state text := CASE WHEN NEW.display_status <> NEW.status THEN NEW.status ELSE '' END;
BEGIN
  texts := runs.texts_of(NEW, (SELECT p.name FROM runs.projects p WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id));
  UPDATE runs.run_texts t SET status = texts.status, display_status = texts.display_status, irregular = texts.irregular,
    name = texts.name, tags = texts.tags, notes = texts.notes, summary = texts.summary, config = texts.config,
    metadata = texts.metadata
  WHERE t.org_id = NEW.org_id AND t.run_id = NEW.id;
  IF old_state <> new_state THEN
    UPDATE runs.projects p SET
      runs_stopping = p.runs_stopping + (new_state = 'running')::integer - (old_state = 'running')::integer,
      runs_finished_stopped = p.runs_finished_stopped + (new_state = 'finished')::integer - (old_state = 'finished')::integer,
      runs_failed_stopped = p.runs_failed_stopped + (new_state = 'failed')::integer - (old_state = 'failed')::integer
    WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id;
  END IF;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION runs.index_changed_run IS
  'Keeps texts and counters with a changed run, in the statement that changes it.';

CREATE TRIGGER runs_index_changed AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (old.status <> new.status
    OR old.display_status <> new.display_status
    OR old.name <> new.name
    OR old.tags <> new.tags
    OR old.logged_tags <> new.logged_tags
    OR old.config <> new.config
    OR old.metadata <> new.metadata)
  EXECUTE FUNCTION runs.index_changed_run();

CREATE FUNCTION runs.index_new_runs()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
SET gin_pending_list_limit TO '4096'
AS $function$
BEGIN
  INSERT INTO runs.run_texts
  SELECT t.* FROM new_runs r
  JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
  CROSS JOIN LATERAL runs.texts_of(ROW(r.*)::runs.runs, p.name) t;
  -- Never by a create, but by what fills tables.
  UPDATE runs.projects p SET
    runs_stopping = p.runs_stopping + c.running,
    runs_finished_stopped = p.runs_finished_stopped + c.finished,
    runs_failed_stopped = p.runs_failed_stopped + c.failed
  FROM (SELECT r.org_id, r.project_id, count(*) FILTER (WHERE r.status = 'running') AS running,
               count(*) FILTER (WHERE r.status = 'finished') AS finished,
               count(*) FILTER (WHERE r.status = 'failed') AS failed
        FROM new_runs r WHERE r.display_status <> r.status GROUP BY r.org_id, r.project_id) c
  WHERE p.org_id = c.org_id AND p.id = c.project_id;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION runs.index_new_runs IS 'Keeps texts and counters with new runs, in the statement that writes them.';

CREATE TRIGGER runs_index_new AFTER INSERT ON runs.runs
  REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION runs.index_new_runs();

CREATE FUNCTION runs.is_deleted_project_v1(org uuid, project uuid)
RETURNS boolean
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.id = project AND p.deleted_at IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION runs.is_deleted_project_v1 IS
  'Whether a project is deleted and not removed yet; false for one that is not there, and for null.';
REVOKE ALL ON FUNCTION runs.is_deleted_project_v1 FROM PUBLIC;
ALTER FUNCTION runs.is_deleted_project_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.is_deleted_project_v1 TO tidemark_reports;

CREATE FUNCTION runs.keep_changed_values()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT NEW.org_id, c.id, NEW.id, NEW.created_at, k.num, k.txt, 0, 0
  FROM (SELECT w.id, w.places FROM runs.kept_columns w WHERE w.org_id = NEW.org_id AND w.kind = 'config' OFFSET 0) c
  CROSS JOIN LATERAL (SELECT runs.config_value(NEW.config, c.places) AS value OFFSET 0) d
  CROSS JOIN LATERAL runs.comparable(d.value) k
  WHERE d.value IS NOT NULL
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE SET num = excluded.num, txt = excluded.txt, source = 0, attribute_id = 0;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION runs.keep_changed_values IS
  'Keeps the values of a config that got members for the kept columns, in the statement that writes them. Members '
  'never go.';

CREATE TRIGGER runs_keep_changed_values AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (old.config <> new.config) EXECUTE FUNCTION runs.keep_changed_values();

CREATE FUNCTION runs.keep_new_values()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT r.org_id, c.id, r.id, r.created_at, k.num, k.txt, 0, 0
  FROM (SELECT DISTINCT n.org_id FROM new_runs n) o
  CROSS JOIN LATERAL (SELECT w.id, w.places FROM runs.kept_columns w
                      WHERE w.org_id = o.org_id AND w.kind = 'config' OFFSET 0) c
  CROSS JOIN LATERAL (SELECT n.* FROM new_runs n WHERE n.org_id = o.org_id) r
  CROSS JOIN LATERAL (SELECT runs.config_value(r.config, c.places) AS value OFFSET 0) d
  CROSS JOIN LATERAL runs.comparable(d.value) k
  WHERE d.value IS NOT NULL
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE SET num = excluded.num, txt = excluded.txt, source = 0, attribute_id = 0
  WHERE v.source > 0;
  RETURN NULL;
END
$function$;
COMMENT ON FUNCTION runs.keep_new_values IS
  'Keeps the values of new runs for the kept columns, in the statement that writes the runs.';

CREATE TRIGGER runs_keep_new_values AFTER INSERT ON runs.runs
  REFERENCING NEW TABLE AS new_runs FOR EACH STATEMENT EXECUTE FUNCTION runs.keep_new_values();

CREATE FUNCTION runs.lock_state_v1(org uuid, run uuid)
RETURNS TABLE(project_id uuid, status text, started_at timestamp with time zone, finished_at timestamp with time zone,
  resume_count integer, resumed_at timestamp with time zone, lifecycle jsonb, stop_state text, stop_request_id uuid,
  stop_reason text, stop_completion_message text, stop_actor text, stop_requested_at timestamp with time zone,
  stop_acknowledged_at timestamp with time zone, stop_completed_at timestamp with time zone,
  stop_updated_at timestamp with time zone, locked_at timestamp with time zone)
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT locked.*, clock_timestamp()
  FROM (
    SELECT r.project_id, r.status, r.started_at, r.finished_at, r.resume_count, r.resumed_at, r.lifecycle,
           r.stop_state, r.stop_request_id, r.stop_reason, r.stop_completion_message, r.stop_actor,
           r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at, r.stop_updated_at
    FROM runs.runs r
    WHERE r.org_id = org AND r.id = run
    FOR UPDATE
  ) locked;
$function$;
COMMENT ON FUNCTION runs.lock_state_v1 IS
  'Locks a run until the end of the transaction. No row: the organization has no such run. locked_at is the time to '
  'give to a transition: read after the lock was obtained, and from one clock for all processes.';
REVOKE ALL ON FUNCTION runs.lock_state_v1 FROM PUBLIC;
ALTER FUNCTION runs.lock_state_v1 OWNER TO tidemark_runs;
GRANT EXECUTE ON FUNCTION runs.lock_state_v1 TO tidemark_control;

CREATE FUNCTION runs.mark_change()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  NEW.changed_xid := pg_current_xact_id();
  RETURN NEW;
END
$function$;
COMMENT ON FUNCTION runs.mark_change IS
  'Notes the transaction that changed the project, the status or the stop request of a run, so that no writer can '
  'forget it.';
REVOKE ALL ON FUNCTION runs.mark_change FROM PUBLIC;

CREATE TRIGGER runs_mark_change BEFORE UPDATE ON runs.runs
  FOR EACH ROW WHEN (old.project_id IS DISTINCT FROM new.project_id
    OR old.status IS DISTINCT FROM new.status
    OR old.stop_state IS DISTINCT FROM new.stop_state
    OR old.stop_request_id IS DISTINCT FROM new.stop_request_id
    OR old.stop_requested_at IS DISTINCT FROM new.stop_requested_at
    OR old.stop_acknowledged_at IS DISTINCT FROM new.stop_acknowledged_at
    OR old.hidden IS DISTINCT FROM new.hidden)
  EXECUTE FUNCTION runs.mark_change();

CREATE FUNCTION runs.merge_new_texts()
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET gin_pending_list_limit TO '64'
SET work_mem TO '32MB'
AS $function$
DECLARE
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  -- PostgreSQL merges what is there when a row is added to a long list. gin_clean_pending_list() would continue with what
  -- others add meanwhile, in smaller and smaller merges, and need twice the time for each entry. The merge stays when
  -- the row is taken back.
  INSERT INTO runs.run_texts (org_id, run_id, project_id, created_at, status, display_status, irregular, name, tags,
                              notes, summary, config, metadata)
  VALUES (nobody, nobody, nobody, now(), '', '', false, '', '{}', '', '', '', '');
  RAISE EXCEPTION USING ERRCODE = 'TM001', MESSAGE = 'the row is taken back';
EXCEPTION WHEN SQLSTATE 'TM001' THEN
  NULL;
END
$function$;
COMMENT ON FUNCTION runs.merge_new_texts IS
  'Merges what was added to the index of searched texts, from 64 kB on, so that searches find it faster. Texts can '
  'be added meanwhile. Does nothing while another transaction merges.';
REVOKE ALL ON FUNCTION runs.merge_new_texts FROM PUBLIC;
ALTER FUNCTION runs.merge_new_texts OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.merge_new_texts TO tidemark_runs;

CREATE FUNCTION runs.move_runs(org uuid, run_ids uuid[], to_project uuid)
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  homes uuid[];
  change record;
BEGIN
  homes := ARRAY(
    SELECT DISTINCT h.id FROM (
      SELECT r.project_id FROM unnest(run_ids) AS w (id)
      CROSS JOIN LATERAL (SELECT o.project_id FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) r
      UNION ALL SELECT to_project) AS h (id)
    ORDER BY h.id);
  -- None is deleted meanwhile; a deleted one is not seen.
  IF cardinality(homes) > (
    SELECT count(*) FROM (
      SELECT FROM unnest(homes) AS h (id)
      CROSS JOIN LATERAL (SELECT FROM runs.projects p WHERE p.org_id = org AND p.id = h.id OFFSET 0 FOR KEY SHARE) p) l)
  THEN
    RETURN false;
  END IF;

  INSERT INTO runs.visibility_changes (org_id, project_id, run_id)
  SELECT org, r.project_id, w.id FROM unnest(run_ids) AS w (id)
  CROSS JOIN LATERAL (SELECT o.project_id FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) r;
  INSERT INTO runs.moved_runs AS m (org_id, run_id) SELECT org, w.id FROM unnest(run_ids) AS w (id)
  ON CONFLICT (org_id, run_id) DO UPDATE SET xid = excluded.xid, at = excluded.at;

  -- One after another, in the order in which all lock counters.
  FOR change IN
    SELECT g.project_id, sum(g.sign * (r.status = 'running')::integer) AS running,
           sum(g.sign * (r.status = 'finished')::integer) AS finished,
           sum(g.sign * (r.status = 'failed')::integer) AS failed,
           sum(g.sign * (r.status = 'running' AND r.display_status <> r.status)::integer) AS stopping,
           sum(g.sign * (r.status = 'finished' AND r.display_status <> r.status)::integer) AS finished_stopped,
           sum(g.sign * (r.status = 'failed' AND r.display_status <> r.status)::integer) AS failed_stopped
    FROM unnest(run_ids) AS w (id)
    CROSS JOIN LATERAL (SELECT o.project_id, o.status, o.display_status FROM runs.runs o
                        WHERE o.org_id = org AND o.id = w.id OFFSET 0) r
    CROSS JOIN LATERAL (VALUES (r.project_id, -1), (to_project, 1)) AS g (project_id, sign)
    GROUP BY g.project_id ORDER BY g.project_id
  LOOP
    UPDATE runs.projects p SET
      runs_running = p.runs_running + change.running, runs_finished = p.runs_finished + change.finished,
      runs_failed = p.runs_failed + change.failed, runs_stopping = p.runs_stopping + change.stopping,
      runs_finished_stopped = p.runs_finished_stopped + change.finished_stopped,
      runs_failed_stopped = p.runs_failed_stopped + change.failed_stopped
    WHERE p.org_id = org AND p.id = change.project_id;
  END LOOP;

  UPDATE runs.runs r SET project_id = to_project
  FROM unnest(run_ids) AS w (id) WHERE r.org_id = org AND r.id = w.id;
  UPDATE runs.run_texts t SET project_id = n.project_id, summary = n.summary, irregular = n.irregular
  FROM unnest(run_ids) AS w (id)
  CROSS JOIN LATERAL (SELECT o.* FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) r
  CROSS JOIN LATERAL (SELECT o.name FROM runs.projects o WHERE o.org_id = org AND o.id = to_project OFFSET 0) p
  CROSS JOIN LATERAL runs.texts_of(ROW (r.*)::runs.runs, p.name) n
  WHERE t.org_id = org AND t.run_id = r.id;
  RETURN true;
END
$function$;
COMMENT ON FUNCTION runs.move_runs IS
  'Moves locked runs, distinct, that are not in a project yet, to it, with counters and searched texts. False, and '
  'nothing is changed, while that project or one of theirs is deleted. What other services keep of the runs follows '
  'by moved_runs.';
REVOKE ALL ON FUNCTION runs.move_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.move_runs TO tidemark_runs;

CREATE FUNCTION runs.moved_organizations()
RETURNS TABLE(org_id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT DISTINCT m.org_id FROM runs.moved_runs m LIMIT 100;
$function$;
COMMENT ON FUNCTION runs.moved_organizations IS 'Returns organizations with rows in moved_runs.';
REVOKE ALL ON FUNCTION runs.moved_organizations FROM PUBLIC;
ALTER FUNCTION runs.moved_organizations OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.moved_organizations TO tidemark_runs;

CREATE FUNCTION runs.names_deleted_project_v1(org uuid, project text)
RETURNS boolean
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  as_id uuid := CASE WHEN project ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN project::uuid END;
BEGIN
  IF EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.name = project AND p.deleted_at IS NULL) THEN
    RETURN false;
  END IF;
  RETURN EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.name = project)
    OR EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.id = as_id AND p.deleted_at IS NOT NULL);
END
$function$;
COMMENT ON FUNCTION runs.names_deleted_project_v1 IS
  'Whether a text is the name or the id of a deleted project, and not the name of one that is not.';
REVOKE ALL ON FUNCTION runs.names_deleted_project_v1 FROM PUBLIC;
ALTER FUNCTION runs.names_deleted_project_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.names_deleted_project_v1 TO tidemark_reports, tidemark_usage;

CREATE FUNCTION runs.note_attributes_v1(org uuid, run_ids uuid[], ids bigint[], paths text[], documents text[])
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
BEGIN
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT DISTINCT ON (p.column_id, a.run_id) org, p.column_id, a.run_id, r.created_at, k.num, k.txt, p.source, a.id
  FROM unnest(run_ids, ids, paths, documents) AS a (run_id, id, path, document)
  CROSS JOIN LATERAL (SELECT w.column_id, w.source FROM runs.kept_paths_v1 w WHERE w.org_id = org AND w.path = a.path OFFSET 0) p
  CROSS JOIN LATERAL (SELECT o.created_at FROM runs.runs o WHERE o.org_id = org AND o.id = a.run_id OFFSET 0) r
  CROSS JOIN LATERAL runs.comparable(a.document::json) k
  WHERE org = platform.org_id()
  ORDER BY p.column_id, a.run_id, p.source, a.id DESC
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE
  SET num = excluded.num, txt = excluded.txt, source = excluded.source, attribute_id = excluded.attribute_id
  WHERE (v.source, -v.attribute_id) > (excluded.source, -excluded.attribute_id);
END
$function$;
COMMENT ON FUNCTION runs.note_attributes_v1 IS
  'Keeps the values of new attributes for the kept columns, in the transaction that writes the attributes. In '
  'any order of arrival, the config wins, then the best path, then the highest id.';
REVOKE ALL ON FUNCTION runs.note_attributes_v1 FROM PUBLIC;
ALTER FUNCTION runs.note_attributes_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.note_attributes_v1 TO tidemark_ingest;

CREATE FUNCTION runs.note_tags_v1(org uuid, run uuid, logged text[])
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET plan_cache_mode TO 'force_generic_plan'
AS $function$
DECLARE
  tags_max constant integer := 256;
  bytes_max constant integer := 512;
  before text[];
  fresh text[];
BEGIN
  IF org IS DISTINCT FROM platform.org_id() THEN
    RETURN;
  END IF;
  -- Most of the time the run has them already, and nothing waits for its row.
  SELECT r.logged_tags INTO before FROM runs.runs r WHERE r.org_id = org AND r.id = run;
  IF NOT FOUND OR before @> logged OR cardinality(before) >= tags_max THEN
    RETURN;
  END IF;
  SELECT r.logged_tags INTO before FROM runs.runs r WHERE r.org_id = org AND r.id = run FOR NO KEY UPDATE;
  fresh := ARRAY(
    SELECT w.tag FROM unnest(logged) WITH ORDINALITY AS w (tag, n)
    WHERE octet_length(w.tag) BETWEEN 1 AND bytes_max AND NOT before @> ARRAY[w.tag]
    GROUP BY w.tag ORDER BY min(w.n) LIMIT greatest(tags_max - cardinality(before), 0));
  IF fresh <> '{}' THEN
    UPDATE runs.runs r SET logged_tags = before || fresh WHERE r.org_id = org AND r.id = run;
  END IF;
END
$function$;
COMMENT ON FUNCTION runs.note_tags_v1 IS
  'Keeps tags that were logged as attributes, in the transaction that writes the attributes. Those above the bounds '
  'of logged_tags are attributes alone.';
REVOKE ALL ON FUNCTION runs.note_tags_v1 FROM PUBLIC;
ALTER FUNCTION runs.note_tags_v1 OWNER TO tidemark_runs;
GRANT EXECUTE ON FUNCTION runs.note_tags_v1 TO tidemark_ingest;

CREATE FUNCTION runs.notes_of(metadata text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  document json;
BEGIN
  IF strpos(metadata, '\u') > 0 THEN
    metadata := regexp_replace(metadata, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g');
  END IF;
  document := metadata;
  RETURN concat_ws(' ',
    CASE WHEN json_typeof(document -> 'notes') = 'string' THEN document ->> 'notes' END,
    CASE WHEN json_typeof(document -> 'note') = 'string' THEN document ->> 'note' END,
    CASE WHEN json_typeof(document -> 'description') = 'string' THEN document ->> 'description' END,
    CASE WHEN json_typeof(document -> 'summary') = 'string' THEN document ->> 'summary' END,
    CASE WHEN json_typeof(document -> 'comment') = 'string' THEN document ->> 'comment' END);
END
$function$;
COMMENT ON FUNCTION runs.notes_of IS
  'Returns the texts in a run''s metadata that are about the run. A NUL and half of a surrogate pair, which JSON can '
  'write and a text cannot hold, are read as U+FFFD.';

CREATE FUNCTION runs.number_project()
RETURNS trigger
LANGUAGE plpgsql
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO runs.project_numbers AS n (org_id, latest) VALUES (NEW.org_id, 1)
  ON CONFLICT (org_id) DO UPDATE SET latest = n.latest + 1 RETURNING n.latest INTO STRICT NEW.number;
  RETURN NEW;
END
$function$;
COMMENT ON FUNCTION runs.number_project IS
  'Numbers a new project. Projects of one organization that are created at the same time wait for each other.';

CREATE TRIGGER projects_number_new BEFORE INSERT ON runs.projects
  FOR EACH ROW EXECUTE FUNCTION runs.number_project();

CREATE FUNCTION runs.record_signs_of_life(org_ids uuid[], run_ids uuid[], seen timestamp with time zone[])
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  INSERT INTO runs.signs_of_life AS s (org_id, run_id, seen_at)
  SELECT w.org_id, w.run_id, max(w.at)
  FROM unnest(org_ids, run_ids, seen) AS w (org_id, run_id, at)
  CROSS JOIN LATERAL (SELECT FROM runs.runs r WHERE r.org_id = w.org_id AND r.id = w.run_id OFFSET 0) r
  GROUP BY w.org_id, w.run_id
  ORDER BY w.org_id, w.run_id
  ON CONFLICT (org_id, run_id) DO UPDATE SET seen_at = excluded.seen_at WHERE s.seen_at < excluded.seen_at;
END
$function$;
COMMENT ON FUNCTION runs.record_signs_of_life IS
  'Records signs of life of runs of any organizations; leaves out runs that the organization does not have. An '
  'older sign never replaces a newer one.';
REVOKE ALL ON FUNCTION runs.record_signs_of_life FROM PUBLIC;
ALTER FUNCTION runs.record_signs_of_life OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.record_signs_of_life TO tidemark_runs;

CREATE FUNCTION runs.restore_runs(org uuid, home uuid, archived json)
RETURNS integer
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  wanted uuid[] := ARRAY(SELECT (w.r ->> 'id')::uuid FROM json_array_elements(archived) AS w (r));
  taken uuid[];
BEGIN
  taken := ARRAY(SELECT runs.take_run_ids(wanted, org));
  UPDATE runs.projects p SET
    runs_running = p.runs_running + c.running, runs_finished = p.runs_finished + c.finished, runs_failed = p.runs_failed + c.failed
  FROM (SELECT count(*) FILTER (WHERE w.r ->> 'status' = 'running') AS running, count(*) FILTER (WHERE w.r ->> 'status' = 'finished') AS finished,
               count(*) FILTER (WHERE w.r ->> 'status' = 'failed') AS failed
        FROM json_array_elements(archived) AS w (r) WHERE (w.r ->> 'id')::uuid = ANY (taken)) c
  WHERE p.org_id = org AND p.id = home AND taken <> '{}';
  IF taken <> '{}' AND NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = 'the project is gone';
  END IF;

  INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at, resume_count, resumed_at,
                         lifecycle, parent_run_id, forked_from_step, forked_from_artifact_id, stop_state, stop_request_id, stop_reason,
                         stop_completion_message, stop_actor, stop_requested_at, stop_acknowledged_at, stop_completed_at, stop_updated_at)
  SELECT org, r.id, home, r.name, r.status, r.config, ARRAY(SELECT json_array_elements_text(r.tags)), r.metadata, r.created_at, r.started_at,
         r.finished_at, r.resume_count, r.resumed_at, r.lifecycle, r.parent_run_id, r.forked_from_step, r.forked_from_artifact_id, r.stop_state,
         r.stop_request_id, r.stop_reason, r.stop_completion_message, r.stop_actor, r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at,
         r.stop_updated_at
  FROM json_to_recordset(archived) AS r (
    id uuid, name text, status text, config text, tags json, metadata text, created_at timestamptz, started_at timestamptz, finished_at timestamptz,
    resume_count integer, resumed_at timestamptz, lifecycle jsonb, parent_run_id uuid, forked_from_step double precision,
    forked_from_artifact_id uuid, stop_state text, stop_request_id uuid, stop_reason text, stop_completion_message text, stop_actor text,
    stop_requested_at timestamptz, stop_acknowledged_at timestamptz, stop_completed_at timestamptz, stop_updated_at timestamptz)
  WHERE r.id = ANY (taken);
  RETURN (SELECT count(*) FROM unnest(wanted) AS w (id)
          CROSS JOIN LATERAL (SELECT FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) o);
END
$function$;
REVOKE ALL ON FUNCTION runs.restore_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.restore_runs TO tidemark_runs;

CREATE FUNCTION runs.running_page_v1(after_org uuid, after_run uuid, page_size integer)
RETURNS TABLE(snapshot text, org_id uuid, id uuid, project_id uuid, status text, stop_state text, stop_request_id uuid,
  stop_requested_at timestamp with time zone, stop_acknowledged_at timestamp with time zone)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
SET enable_sort TO 'off'
AS $function$
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, r.org_id, r.id, r.project_id, CASE WHEN r.hidden THEN 'deleted' ELSE r.status END, r.stop_state,
           r.stop_request_id, r.stop_requested_at, r.stop_acknowledged_at
    FROM runs.runs r
    WHERE r.status = 'running' AND (r.org_id, r.id) > (after_org, after_run)
    ORDER BY r.org_id, r.id LIMIT page_size;
END
$function$;
COMMENT ON FUNCTION runs.running_page_v1 IS
  'Returns a page of running runs of all organizations, in the order (org_id, id), behind the given position. '
  'Hidden ones have the status deleted. The first row has the snapshot that saw them and no run. The plan is fixed '
  'to the index: a few rows are wanted at the end of very many, which statistics do not say.';
REVOKE ALL ON FUNCTION runs.running_page_v1 FROM PUBLIC;
ALTER FUNCTION runs.running_page_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.running_page_v1 TO tidemark_control;

CREATE FUNCTION runs.searchable(whole text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  bytes bytea;
  length integer := 32768;
BEGIN
  IF octet_length(whole) <= length THEN
    RETURN lower(whole COLLATE "C");
  END IF;
  bytes := convert_to(whole, 'UTF8');
  -- Not in the middle of a character.
  WHILE get_byte(bytes, length) & 192 = 128 LOOP
    length := length - 1;
  END LOOP;
  RETURN lower(convert_from(substring(bytes FROM 1 FOR length), 'UTF8') COLLATE "C");
END
$function$;
COMMENT ON FUNCTION runs.searchable IS
  'Returns what searches read of a text: its first 32 KiB, its ASCII letters lowered. Collation C knows no other '
  'letters.';

CREATE FUNCTION runs.searchable_tags(tags text[])
RETURNS text[]
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT coalesce(array_agg(lower(u.tag COLLATE "C") ORDER BY u.n) FILTER (WHERE u.bytes <= 32768), '{}')
  FROM (SELECT t.tag, t.n, sum(octet_length(t.tag) + 1) OVER (ORDER BY t.n) - 1 AS bytes
        FROM unnest(tags) WITH ORDINALITY AS t (tag, n)) u;
$function$;
COMMENT ON FUNCTION runs.searchable_tags IS
  'Returns the tags that end within the first 32 KiB of all of them, joined by spaces.';

CREATE FUNCTION runs.set_state_v1(org uuid, run uuid, new_status text, new_finished_at timestamp with time zone,
  new_resume_count integer, new_resumed_at timestamp with time zone, new_stop_state text, new_stop_request_id uuid,
  new_stop_reason text, new_stop_completion_message text, new_stop_actor text,
  new_stop_requested_at timestamp with time zone, new_stop_acknowledged_at timestamp with time zone,
  new_stop_completed_at timestamp with time zone, new_stop_updated_at timestamp with time zone,
  new_lifecycle jsonb DEFAULT NULL::jsonb)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  old record;
BEGIN
  SELECT r.project_id, r.status INTO STRICT old FROM runs.runs r WHERE r.org_id = org AND r.id = run FOR UPDATE;
  UPDATE runs.runs r SET
    status = new_status,
    finished_at = new_finished_at,
    resume_count = new_resume_count,
    resumed_at = new_resumed_at,
    lifecycle = coalesce(new_lifecycle, r.lifecycle),
    stop_state = new_stop_state,
    stop_request_id = new_stop_request_id,
    stop_reason = new_stop_reason,
    stop_completion_message = new_stop_completion_message,
    stop_actor = new_stop_actor,
    stop_requested_at = new_stop_requested_at,
    stop_acknowledged_at = new_stop_acknowledged_at,
    stop_completed_at = new_stop_completed_at,
    stop_updated_at = new_stop_updated_at
  WHERE r.org_id = org AND r.id = run;
  IF new_status <> old.status THEN
    UPDATE runs.projects p SET
      runs_running = p.runs_running + (new_status = 'running')::integer - (old.status = 'running')::integer,
      runs_finished = p.runs_finished + (new_status = 'finished')::integer - (old.status = 'finished')::integer,
      runs_failed = p.runs_failed + (new_status = 'failed')::integer - (old.status = 'failed')::integer
    WHERE p.org_id = org AND p.id = old.project_id;
  END IF;
END
$function$;
COMMENT ON FUNCTION runs.set_state_v1 IS
  'Writes the state of a run that lock_state_v1 locked, and keeps its project''s counters. new_lifecycle null: the '
  'entries stay as they are.';
REVOKE ALL ON FUNCTION runs.set_state_v1 FROM PUBLIC;
ALTER FUNCTION runs.set_state_v1 OWNER TO tidemark_runs;
GRANT EXECUTE ON FUNCTION runs.set_state_v1 TO tidemark_control;

CREATE FUNCTION runs.take_run_id(run uuid, org uuid)
RETURNS boolean
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  WITH taken AS (
    INSERT INTO runs.run_ids (id, org_id) VALUES (run, org) ON CONFLICT DO NOTHING RETURNING true
  )
  SELECT EXISTS (SELECT FROM taken);
$function$;
COMMENT ON FUNCTION runs.take_run_id IS
  'Takes an id for an organization, in the transaction that creates the run; false when it is taken already, by any '
  'organization. Waits for a transaction that is about to take or to give up the same id.';
REVOKE ALL ON FUNCTION runs.take_run_id FROM PUBLIC;
ALTER FUNCTION runs.take_run_id OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.take_run_id TO tidemark_runs;

CREATE FUNCTION runs.take_run_ids(ids uuid[], org uuid)
RETURNS SETOF uuid
LANGUAGE sql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  -- In one order for all, so that two of them cannot wait for each other.
  INSERT INTO runs.run_ids (id, org_id) SELECT i.id, org FROM unnest(ids) AS i (id) ORDER BY i.id
  ON CONFLICT DO NOTHING
  RETURNING id;
$function$;
COMMENT ON FUNCTION runs.take_run_ids IS
  'Takes ids for an organization, in the transaction that creates the runs, and returns those that no organization '
  'had. Waits for transactions that are about to take or to give up the same ids.';
REVOKE ALL ON FUNCTION runs.take_run_ids FROM PUBLIC;
ALTER FUNCTION runs.take_run_ids OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.take_run_ids TO tidemark_runs;

CREATE FUNCTION runs.taken_run_ids(wanted uuid[])
RETURNS SETOF uuid
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT w.id FROM unnest(wanted) AS w (id) WHERE EXISTS (SELECT FROM runs.run_ids t WHERE t.id = w.id);
$function$;
REVOKE ALL ON FUNCTION runs.taken_run_ids FROM PUBLIC;
ALTER FUNCTION runs.taken_run_ids OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.taken_run_ids TO tidemark_runs;

CREATE FUNCTION runs.texts_of(run runs.runs, project_name text)
RETURNS runs.run_texts
LANGUAGE plpgsql
STABLE
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  bytes_max constant integer := 32768;
  all_tags constant text[] := CASE WHEN run.logged_tags = '{}' THEN run.tags ELSE run.tags || run.logged_tags END;
  tags constant text := array_to_string(all_tags, ' ');
  notes text := '';
  everything text;
  texts runs.run_texts;
BEGIN
  IF strpos(run.metadata, '"note') > 0 OR strpos(run.metadata, '"description"') > 0
    OR strpos(run.metadata, '"summary"') > 0 OR strpos(run.metadata, '"comment"') > 0 OR strpos(run.metadata, '\u') > 0 THEN
    notes := runs.notes_of(run.metadata);
  END IF;
  texts.org_id := run.org_id;
  texts.run_id := run.id;
  texts.project_id := run.project_id;
  texts.created_at := run.created_at;
  texts.status := run.status;
  texts.display_status := run.display_status;
  texts.name := lower(run.name COLLATE "C");
  texts.tags := CASE WHEN octet_length(tags) <= bytes_max THEN lower(all_tags::text COLLATE "C")::text[]
                     ELSE runs.searchable_tags(all_tags) END;
  texts.notes := CASE WHEN octet_length(notes) <= bytes_max THEN lower(notes COLLATE "C")
                      ELSE runs.searchable(notes) END;
  texts.summary := concat_ws(' ', project_name, run.name, nullif(tags, ''), nullif(notes, ''), run.status, run.id,
    nullif(run.display_status, run.status));
  texts.summary := CASE WHEN octet_length(texts.summary) <= bytes_max THEN lower(texts.summary COLLATE "C")
                        ELSE runs.searchable(texts.summary) END;
  texts.config := CASE WHEN octet_length(run.config) <= bytes_max THEN lower(run.config COLLATE "C")
                       ELSE runs.searchable(run.config) END;
  texts.metadata := CASE WHEN octet_length(run.metadata) <= bytes_max THEN lower(run.metadata COLLATE "C")
                         ELSE runs.searchable(run.metadata) END;
  everything := concat(texts.summary, texts.notes, texts.config, texts.metadata, array_to_string(texts.tags, ''));
  texts.irregular := octet_length(texts.summary) > 32760
    OR (octet_length(everything) > char_length(everything) AND everything ~ '[\u212A\u017F]');
  RETURN texts;
END
$function$;
COMMENT ON FUNCTION runs.texts_of IS 'Returns what searches read of a run of the named project.';
REVOKE ALL ON FUNCTION runs.texts_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.texts_of TO tidemark_definer, tidemark_runs;

CREATE FUNCTION runs.unsettled_projects()
RETURNS TABLE(org_id uuid, id uuid)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT p.org_id, p.id FROM runs.projects p WHERE p.unsettled OR p.texts_behind ORDER BY p.org_id, p.id LIMIT 100;
$function$;
COMMENT ON FUNCTION runs.unsettled_projects IS
  'Returns projects of any organizations whose runs do not all follow the project yet.';
REVOKE ALL ON FUNCTION runs.unsettled_projects FROM PUBLIC;
ALTER FUNCTION runs.unsettled_projects OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.unsettled_projects TO tidemark_runs;

CREATE FUNCTION runs.visibility_changes_v1(since pg_snapshot)
RETURNS TABLE(snapshot text, org_id uuid, project_id uuid, run_id uuid)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
SET enable_bitmapscan TO 'off'
AS $function$
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, c.org_id, c.project_id, c.run_id FROM runs.visibility_changes c
    WHERE c.xid >= pg_snapshot_xmin(since) AND NOT pg_visible_in_snapshot(c.xid, since);
END
$function$;
COMMENT ON FUNCTION runs.visibility_changes_v1 IS
  'Returns what was hidden or shown again, of all organizations, and the given snapshot did not see; nothing for '
  'null. The first row has the snapshot to continue with. Reaches back some hours.';
REVOKE ALL ON FUNCTION runs.visibility_changes_v1 FROM PUBLIC;
ALTER FUNCTION runs.visibility_changes_v1 OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.visibility_changes_v1 TO tidemark_artifacts, tidemark_ingest, tidemark_traces;

REVOKE CREATE ON SCHEMA runs FROM tidemark_definer, tidemark_runs;
