-- Schema artifacts: what a new database starts with.

CREATE SCHEMA artifacts;
GRANT USAGE ON SCHEMA artifacts TO tidemark_artifacts, tidemark_artifacts_worker, tidemark_definer, tidemark_ingest,
  tidemark_runs, tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA artifacts TO tidemark_artifacts;

CREATE TABLE artifacts.aliases (
  org_id uuid NOT NULL,
  collection_id uuid NOT NULL,
  alias text COLLATE "C" NOT NULL,
  version_id uuid NOT NULL,
  CONSTRAINT aliases_pkey PRIMARY KEY (org_id, collection_id, alias),
  CONSTRAINT aliases_alias_check CHECK (octet_length(alias) >= 1 AND octet_length(alias) <= 64)
);
CREATE INDEX aliases_of_version ON artifacts.aliases (org_id, version_id);
SELECT platform.fence('artifacts.aliases');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.aliases TO tidemark_artifacts;

CREATE TABLE artifacts.artifacts (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  uri text COLLATE "C" NOT NULL,
  step double precision,
  size_bytes bigint,
  sha256 text COLLATE "C",
  mime_type text COLLATE "C" NOT NULL,
  object_id uuid,
  storage_backend text COLLATE "C" NOT NULL,
  metadata text NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT artifacts_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT artifacts_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 512),
  CONSTRAINT artifacts_size_bytes_check CHECK (size_bytes >= 0),
  CONSTRAINT artifacts_storage_backend_check CHECK (storage_backend IN ('external', 'local', 'r2')),
  CONSTRAINT artifacts_type_check CHECK (type IN ('checkpoint', 'rollout', 'file'))
);
CREATE INDEX artifacts_by_name ON artifacts.artifacts (org_id, run_id, name, created_at DESC, id DESC);
CREATE INDEX artifacts_of_run ON artifacts.artifacts (org_id, run_id, created_at DESC, id DESC);
SELECT platform.fence('artifacts.artifacts');
GRANT SELECT (org_id, object_id, size_bytes) ON TABLE artifacts.artifacts TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.artifacts TO tidemark_artifacts;
GRANT SELECT (org_id, id, run_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata,
  created_at) ON TABLE artifacts.artifacts TO tidemark_ingest, tidemark_runs;

CREATE TABLE artifacts.collections (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text,
  metadata text NOT NULL,
  next_index integer DEFAULT 0 NOT NULL,
  versions_active bigint DEFAULT 0 NOT NULL,
  bytes_active bigint DEFAULT 0 NOT NULL,
  bytes_pending_delete bigint DEFAULT 0 NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT collections_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT collections_org_id_project_id_type_name_key UNIQUE (org_id, project_id, type, name),
  CONSTRAINT collections_bytes_active_check CHECK (bytes_active >= 0),
  CONSTRAINT collections_bytes_pending_delete_check CHECK (bytes_pending_delete >= 0),
  CONSTRAINT collections_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 512),
  CONSTRAINT collections_next_index_check CHECK (next_index >= 0),
  CONSTRAINT collections_type_check CHECK (type IN ('model', 'dataset', 'checkpoint', 'table', 'media', 'file')),
  CONSTRAINT collections_versions_active_check CHECK (versions_active >= 0)
) WITH (fillfactor=70);
CREATE INDEX collections_by_name ON artifacts.collections (org_id, name);
CREATE INDEX collections_newest ON artifacts.collections (org_id, updated_at DESC, id DESC);
CREATE INDEX collections_newest_of_project ON artifacts.collections (org_id, project_id, updated_at DESC, id DESC);
SELECT platform.fence('artifacts.collections');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.collections TO tidemark_artifacts;

CREATE TABLE artifacts.edges (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  version_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL,
  source text COLLATE "C" DEFAULT 'sdk' NOT NULL,
  project_id uuid NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT edges_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT edges_org_id_run_id_version_id_direction_key UNIQUE (org_id, run_id, version_id, direction),
  CONSTRAINT edges_direction_check CHECK (direction IN ('input', 'output'))
);
CREATE INDEX edges_of_run ON artifacts.edges (org_id, run_id, direction, created_at, id);
CREATE INDEX edges_of_version ON artifacts.edges (org_id, version_id, direction, created_at, id);
SELECT platform.fence('artifacts.edges');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.edges TO tidemark_artifacts;

CREATE TABLE artifacts.entries (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  version_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  size_bytes bigint,
  sha256 bytea,
  mime_type text COLLATE "C" NOT NULL,
  reference_uri text COLLATE "C",
  object_id uuid,
  CONSTRAINT entries_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT entries_org_id_version_id_path_key UNIQUE (org_id, version_id, path),
  CONSTRAINT entries_kind_check CHECK (kind IN ('file', 'directory', 'reference')),
  CONSTRAINT entries_path_check CHECK (octet_length(path) >= 1 AND octet_length(path) <= 1024),
  CONSTRAINT entries_sha256_check CHECK (octet_length(sha256) = 32),
  CONSTRAINT entries_size_bytes_check CHECK (size_bytes >= 0)
);
SELECT platform.fence('artifacts.entries');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.entries TO tidemark_artifacts;

CREATE TABLE artifacts.models (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  status text COLLATE "C" DEFAULT 'pending' NOT NULL,
  source_run_id uuid,
  params jsonb NOT NULL,
  tags jsonb NOT NULL,
  files integer DEFAULT 0 NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(name) + octet_length(type) + octet_length(params::text)
    + octet_length(tags::text)) STORED NOT NULL,
  CONSTRAINT models_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT models_files_check CHECK (files >= 0),
  CONSTRAINT models_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 1024),
  CONSTRAINT models_status_check CHECK (status IN ('pending', 'ready', 'failed'))
) WITH (fillfactor=70);
COMMENT ON TABLE artifacts.models IS 'Logged models. They stay in their project when their run moves.';
COMMENT ON COLUMN artifacts.models.params IS 'JSON object of texts, like tags';
-- As text, because without statistics an index by project alone looks as good for a name.
CREATE INDEX models_by_name ON artifacts.models (org_id, (project_id::text) COLLATE "C", name, created_at DESC, id DESC);
CREATE INDEX models_newest_of_project ON artifacts.models (org_id, project_id, created_at DESC, id DESC);
CREATE INDEX models_of_run ON artifacts.models (org_id, source_run_id);
SELECT platform.fence('artifacts.models');
SELECT platform.count_stored('artifacts.models', 'documents');
GRANT SELECT (org_id, bytes) ON TABLE artifacts.models TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.models TO tidemark_artifacts;

CREATE TABLE artifacts.model_files (
  org_id uuid NOT NULL,
  model_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 bytea NOT NULL,
  mime_type text COLLATE "C" NOT NULL,
  object_id uuid NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT model_files_pkey PRIMARY KEY (org_id, model_id, path),
  CONSTRAINT model_files_path_check CHECK (octet_length(path) >= 1 AND octet_length(path) <= 1024),
  CONSTRAINT model_files_sha256_check CHECK (octet_length(sha256) = 32),
  CONSTRAINT model_files_size_bytes_check CHECK (size_bytes >= 0)
);
SELECT platform.fence('artifacts.model_files');
GRANT SELECT (org_id, size_bytes) ON TABLE artifacts.model_files TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.model_files TO tidemark_artifacts;

CREATE TABLE artifacts.model_metrics (
  org_id uuid NOT NULL,
  model_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  dataset_name text COLLATE "C" NOT NULL,
  dataset_digest text COLLATE "C" NOT NULL,
  identity bytea NOT NULL,
  step bigint NOT NULL,
  time_ms bigint NOT NULL,
  value double precision NOT NULL,
  CONSTRAINT model_metrics_pkey PRIMARY KEY (org_id, model_id, identity)
);
COMMENT ON TABLE artifacts.model_metrics IS 'The newest value of each metric of a model, by run and dataset.';
COMMENT ON COLUMN artifacts.model_metrics.identity IS
  'SHA-256 of key, run and dataset, whose texts are too long for a primary key';
CREATE INDEX model_metrics_of_run ON artifacts.model_metrics (org_id, run_id);
SELECT platform.fence('artifacts.model_metrics');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.model_metrics TO tidemark_artifacts;

CREATE TABLE artifacts.objects (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  state text COLLATE "C" DEFAULT 'arriving' NOT NULL,
  store_upload_id text COLLATE "C",
  size_bytes bigint,
  sha256 bytea,
  refs integer DEFAULT 0 NOT NULL,
  owed_bytes bigint DEFAULT 0 NOT NULL,
  sweep_after timestamptz,
  CONSTRAINT objects_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT objects_check CHECK ((state = 'stored') = (refs > 0)),
  CONSTRAINT objects_check1 CHECK (state <> 'stored' OR size_bytes IS NOT NULL AND sha256 IS NOT NULL),
  CONSTRAINT objects_check2 CHECK ((state = 'stored') = (sweep_after IS NULL)),
  CONSTRAINT objects_owed_bytes_check CHECK (owed_bytes >= 0),
  CONSTRAINT objects_refs_check CHECK (refs >= 0),
  CONSTRAINT objects_sha256_check CHECK (octet_length(sha256) = 32),
  CONSTRAINT objects_size_bytes_check CHECK (size_bytes >= 0),
  CONSTRAINT objects_state_check CHECK (state IN ('arriving', 'stored', 'unneeded'))
);
CREATE UNIQUE INDEX objects_by_content ON artifacts.objects (org_id, sha256, size_bytes) WHERE state = 'stored';
CREATE INDEX objects_to_sweep ON artifacts.objects (sweep_after) WHERE state <> 'stored';
SELECT platform.fence('artifacts.objects');
GRANT SELECT (org_id, owed_bytes) ON TABLE artifacts.objects TO tidemark_usage;
SELECT platform.unfence_for('artifacts.objects', 'tidemark_artifacts_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.objects TO tidemark_artifacts;
GRANT SELECT ON TABLE artifacts.objects TO tidemark_artifacts_worker;

CREATE TABLE artifacts.registered_aliases (
  org_id uuid NOT NULL,
  registered_id uuid NOT NULL,
  alias text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  CONSTRAINT registered_aliases_pkey PRIMARY KEY (org_id, registered_id, alias)
);
CREATE INDEX registered_aliases_of_version ON artifacts.registered_aliases (org_id, registered_id, number);
SELECT platform.fence('artifacts.registered_aliases');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.registered_aliases TO tidemark_artifacts;

CREATE TABLE artifacts.registered_models (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  project_id uuid,
  description text NOT NULL,
  tags jsonb NOT NULL,
  next_number integer DEFAULT 1 NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(name) + octet_length(description)
    + octet_length(tags::text)) STORED NOT NULL,
  CONSTRAINT registered_models_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT registered_models_org_id_name_key UNIQUE (org_id, name),
  CONSTRAINT registered_models_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 512)
) WITH (fillfactor=70);
COMMENT ON COLUMN artifacts.registered_models.project_id IS
  'whose callers see it: that of the key that made it, or of its first version; null: none yet';
CREATE INDEX registered_models_last_changed ON artifacts.registered_models (org_id, updated_at DESC, name);
CREATE INDEX registered_models_of_project ON artifacts.registered_models (org_id, project_id, name);
SELECT platform.fence('artifacts.registered_models');
SELECT platform.count_stored('artifacts.registered_models', 'documents');
GRANT SELECT (org_id, bytes) ON TABLE artifacts.registered_models TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.registered_models TO tidemark_artifacts;

CREATE TABLE artifacts.registered_versions (
  org_id uuid NOT NULL,
  registered_id uuid NOT NULL,
  number integer NOT NULL,
  id uuid NOT NULL,
  project_id uuid,
  source text COLLATE "C" NOT NULL,
  run_id uuid,
  model_id uuid,
  version_id uuid,
  run_link text NOT NULL,
  stage text COLLATE "C" DEFAULT 'none' NOT NULL,
  description text NOT NULL,
  tags jsonb NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(source) + octet_length(run_link) + octet_length(description)
    + octet_length(tags::text)) STORED NOT NULL,
  CONSTRAINT registered_versions_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT registered_versions_org_id_registered_id_number_key UNIQUE (org_id, registered_id, number),
  CONSTRAINT registered_versions_stage_check CHECK (stage IN ('none', 'staging', 'production', 'archived'))
) WITH (fillfactor=70);
COMMENT ON COLUMN artifacts.registered_versions.version_id IS
  'the version of a collection with the same files; it may be shared, deleted or gone';
CREATE INDEX registered_versions_last_changed ON artifacts.registered_versions (org_id, updated_at DESC, id DESC);
-- As text, so that no look-up of a number takes it for as good as the key.
CREATE INDEX registered_versions_last_changed_of_one ON artifacts.registered_versions (org_id,
  (registered_id::text) COLLATE "C", updated_at DESC, id DESC);
CREATE INDEX registered_versions_of_model ON artifacts.registered_versions (org_id, model_id)
  WHERE model_id IS NOT NULL;
CREATE INDEX registered_versions_of_project ON artifacts.registered_versions (org_id, project_id);
CREATE INDEX registered_versions_of_run ON artifacts.registered_versions (org_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX registered_versions_of_stage ON artifacts.registered_versions (org_id, registered_id, stage,
  number DESC);
SELECT platform.fence('artifacts.registered_versions');
SELECT platform.count_stored('artifacts.registered_versions', 'documents');
GRANT SELECT (org_id, bytes) ON TABLE artifacts.registered_versions TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.registered_versions TO tidemark_artifacts;

CREATE TABLE artifacts.run_counts (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  checkpoints bigint DEFAULT 0 NOT NULL,
  rollouts bigint DEFAULT 0 NOT NULL,
  files bigint DEFAULT 0 NOT NULL,
  CONSTRAINT run_counts_pkey PRIMARY KEY (org_id, run_id),
  CONSTRAINT run_counts_checkpoints_check CHECK (checkpoints >= 0),
  CONSTRAINT run_counts_files_check CHECK (files >= 0),
  CONSTRAINT run_counts_rollouts_check CHECK (rollouts >= 0)
) WITH (fillfactor=70);
SELECT platform.fence('artifacts.run_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.run_counts TO tidemark_artifacts;
GRANT SELECT ON TABLE artifacts.run_counts TO tidemark_runs;

CREATE TABLE artifacts.storage (
  org_id uuid NOT NULL,
  artifact_bytes bigint DEFAULT 0 NOT NULL,
  version_bytes bigint DEFAULT 0 NOT NULL,
  pending_delete_bytes bigint DEFAULT 0 NOT NULL,
  reserved_bytes bigint DEFAULT 0 NOT NULL,
  artifacts bigint DEFAULT 0 NOT NULL,
  collections bigint DEFAULT 0 NOT NULL,
  versions_active bigint DEFAULT 0 NOT NULL,
  versions_pending_delete bigint DEFAULT 0 NOT NULL,
  slot smallint NOT NULL,
  unknown_sizes bigint DEFAULT 0 NOT NULL,
  CONSTRAINT storage_pkey PRIMARY KEY (org_id, slot),
  CONSTRAINT storage_slot_check CHECK (slot >= 0 AND slot <= 15)
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE artifacts.storage IS
  'what an organization keeps: the sum over the slots, each of which may be negative';
COMMENT ON COLUMN artifacts.storage.slot IS 'of the connection that writes; a transaction writes one';
COMMENT ON COLUMN artifacts.storage.unknown_sizes IS 'plain artifacts that were sent without a size';
SELECT platform.fence('artifacts.storage');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.storage TO tidemark_artifacts;
GRANT SELECT ON TABLE artifacts.storage TO tidemark_usage;

CREATE TABLE artifacts.upload_files (
  org_id uuid NOT NULL,
  session_id uuid NOT NULL,
  id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  size_bytes bigint,
  sha256 bytea,
  mime_type text COLLATE "C" NOT NULL,
  reference_uri text COLLATE "C",
  upload_kind text COLLATE "C",
  part_count integer DEFAULT 0 NOT NULL,
  object_id uuid,
  verified boolean DEFAULT false NOT NULL,
  CONSTRAINT upload_files_pkey PRIMARY KEY (org_id, session_id, id),
  CONSTRAINT upload_files_upload_kind_check CHECK (upload_kind IN ('inline', 'put', 'multipart'))
);
SELECT platform.fence('artifacts.upload_files');
GRANT SELECT (org_id, size_bytes, upload_kind) ON TABLE artifacts.upload_files TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.upload_files TO tidemark_artifacts;

CREATE TABLE artifacts.upload_secret (
  singleton boolean DEFAULT true NOT NULL,
  secret bytea NOT NULL,
  CONSTRAINT upload_secret_pkey PRIMARY KEY (singleton),
  CONSTRAINT upload_secret_secret_check CHECK (octet_length(secret) = 32),
  CONSTRAINT upload_secret_singleton_check CHECK (singleton)
);
INSERT INTO artifacts.upload_secret (secret)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
GRANT SELECT ON TABLE artifacts.upload_secret TO tidemark_artifacts;

CREATE TABLE artifacts.upload_sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  collection_id uuid NOT NULL,
  version_id uuid NOT NULL,
  digest bytea NOT NULL,
  aliases text[] COLLATE "C" NOT NULL,
  ttl_days integer,
  source_step double precision,
  part_size_bytes bigint NOT NULL,
  state text COLLATE "C" DEFAULT 'uploading' NOT NULL,
  expires_at timestamptz NOT NULL,
  completion bytea,
  verified_until timestamptz,
  result_version_id uuid,
  reason text,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT upload_sessions_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT upload_sessions_check CHECK ((state IN ('active', 'deduplicated')) = (result_version_id IS NOT NULL)),
  CONSTRAINT upload_sessions_digest_check CHECK (octet_length(digest) = 32),
  CONSTRAINT upload_sessions_state_check CHECK (state IN ('uploading', 'completing', 'provider_completed', 'active',
    'deduplicated', 'failed')),
  CONSTRAINT upload_sessions_ttl_days_check CHECK (ttl_days >= 1 AND ttl_days <= 3650)
) WITH (fillfactor=70);
CREATE INDEX sessions_ended ON artifacts.upload_sessions (created_at) WHERE state IN ('active', 'deduplicated',
  'failed');
CREATE INDEX sessions_of_run ON artifacts.upload_sessions (org_id, run_id);
CREATE INDEX sessions_to_expire ON artifacts.upload_sessions (expires_at) WHERE state = 'uploading';
CREATE INDEX sessions_to_verify ON artifacts.upload_sessions (verified_until) WHERE state IN ('completing',
  'provider_completed');
SELECT platform.fence('artifacts.upload_sessions');
SELECT platform.unfence_for('artifacts.upload_sessions', 'tidemark_artifacts_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.upload_sessions TO tidemark_artifacts;
GRANT SELECT ON TABLE artifacts.upload_sessions TO tidemark_artifacts_worker;

CREATE TABLE artifacts.versions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  collection_id uuid NOT NULL,
  project_id uuid NOT NULL,
  version_index integer NOT NULL,
  digest bytea NOT NULL,
  source_run_id uuid NOT NULL,
  source_step double precision,
  file_count integer NOT NULL,
  size_bytes bigint NOT NULL,
  state text COLLATE "C" DEFAULT 'active' NOT NULL,
  ttl_days integer,
  retention_mode text COLLATE "C" NOT NULL,
  expires_at timestamptz,
  delete_requested_at timestamptz,
  deleted_at timestamptz,
  purge_after timestamptz,
  purged_at timestamptz,
  audit_reason text,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT versions_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT versions_org_id_collection_id_version_index_key UNIQUE (org_id, collection_id, version_index),
  CONSTRAINT versions_check CHECK ((state = 'soft_deleted') = (deleted_at IS NOT NULL)),
  CONSTRAINT versions_check1 CHECK ((state = 'soft_deleted') = (purge_after IS NOT NULL)),
  CONSTRAINT versions_digest_check CHECK (octet_length(digest) = 32),
  CONSTRAINT versions_retention_mode_check CHECK (retention_mode IN ('inherit', 'days', 'keep_forever', 'none')),
  CONSTRAINT versions_state_check CHECK (state IN ('active', 'soft_deleted')),
  CONSTRAINT versions_ttl_days_check CHECK (ttl_days >= 1 AND ttl_days <= 3650),
  CONSTRAINT versions_version_index_check CHECK (version_index >= 0)
) WITH (fillfactor=85);
CREATE INDEX versions_available ON artifacts.versions (org_id, collection_id,
  version_index DESC) WHERE state = 'active';
CREATE INDEX versions_by_digest ON artifacts.versions (org_id, digest);
CREATE INDEX versions_of_run ON artifacts.versions (org_id, source_run_id);
CREATE INDEX versions_past_end ON artifacts.versions (org_id,
  expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX versions_past_end_of_collection ON artifacts.versions (org_id, collection_id,
  expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX versions_to_expire ON artifacts.versions (expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX versions_to_purge ON artifacts.versions (purge_after) WHERE state = 'soft_deleted' AND purged_at IS NULL;
SELECT platform.fence('artifacts.versions');
GRANT SELECT (org_id, size_bytes) ON TABLE artifacts.versions TO tidemark_usage;
SELECT platform.unfence_for('artifacts.versions', 'tidemark_artifacts_worker');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.versions TO tidemark_artifacts;
GRANT SELECT ON TABLE artifacts.versions TO tidemark_artifacts_worker;

CREATE TABLE artifacts.wanted_bytes (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  sha256 bytea NOT NULL,
  row_id uuid NOT NULL,
  is_entry boolean NOT NULL,
  project_id uuid NOT NULL,
  size_bytes bigint NOT NULL,
  has_come boolean DEFAULT false NOT NULL,
  CONSTRAINT wanted_bytes_pkey PRIMARY KEY (org_id, archive_id, sha256, row_id),
  CONSTRAINT wanted_bytes_sha256_check CHECK (octet_length(sha256) = 32),
  CONSTRAINT wanted_bytes_size_bytes_check CHECK (size_bytes >= 0)
);
CREATE INDEX wanted_bytes_of_row ON artifacts.wanted_bytes (org_id, row_id);
SELECT platform.fence('artifacts.wanted_bytes');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE artifacts.wanted_bytes TO tidemark_artifacts;

CREATE VIEW artifacts.artifacts_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, run_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata, created_at
  FROM artifacts.artifacts;
COMMENT ON VIEW artifacts.artifacts_v1 IS 'Artifacts as clients see them.';
GRANT SELECT ON TABLE artifacts.artifacts_v1 TO tidemark_ingest, tidemark_runs;

CREATE VIEW artifacts.run_counts_v1 WITH (security_invoker = true) AS
  SELECT org_id, run_id, checkpoints, rollouts, files FROM artifacts.run_counts;
COMMENT ON VIEW artifacts.run_counts_v1 IS 'How many artifacts a run has, by type; no row: none.';
GRANT SELECT ON TABLE artifacts.run_counts_v1 TO tidemark_runs;

CREATE VIEW artifacts.usage_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, sum(s.artifacts)::bigint AS artifacts, sum(s.unknown_sizes)::bigint AS unknown_sizes,
         sum(s.collections)::bigint AS collections, sum(s.versions_active)::bigint AS versions_active,
         sum(s.versions_pending_delete)::bigint AS versions_pending_delete, sum(s.artifact_bytes)::bigint AS artifact_bytes,
         sum(s.version_bytes)::bigint AS version_bytes, sum(s.pending_delete_bytes)::bigint AS pending_delete_bytes,
         sum(s.reserved_bytes)::bigint AS reserved_bytes
  FROM artifacts.storage s GROUP BY s.org_id;
COMMENT ON VIEW artifacts.usage_v1 IS
  'What an organization keeps, at this moment; no row: it never kept anything. Versions past their end are active '
  'ones until the sweeper has been there.';
GRANT SELECT ON TABLE artifacts.usage_v1 TO tidemark_artifacts, tidemark_usage;

CREATE VIEW artifacts.stored_rows_v1 WITH (security_invoker = true) AS
  SELECT a.org_id, 'artifact_rows'::text AS kind, 1::bigint AS amount FROM artifacts.artifacts a
  UNION ALL SELECT a.org_id, 'artifacts', a.size_bytes FROM artifacts.artifacts a WHERE a.object_id IS NOT NULL
  UNION ALL SELECT m.org_id, 'artifact_rows', 1 FROM artifacts.model_files m
  UNION ALL SELECT m.org_id, 'artifacts', m.size_bytes FROM artifacts.model_files m
  UNION ALL SELECT m.org_id, 'documents', m.bytes FROM artifacts.models m
  UNION ALL SELECT m.org_id, 'documents', m.bytes FROM artifacts.registered_models m
  UNION ALL SELECT v.org_id, 'documents', v.bytes FROM artifacts.registered_versions v
  UNION ALL SELECT v.org_id, 'artifacts', v.size_bytes FROM artifacts.versions v
  UNION ALL SELECT o.org_id, 'artifacts', o.owed_bytes FROM artifacts.objects o
  UNION ALL SELECT f.org_id, 'artifacts', f.size_bytes FROM artifacts.upload_files f WHERE f.upload_kind IS NOT NULL;
COMMENT ON VIEW artifacts.stored_rows_v1 IS
  'What each row that is stored counts for: plain artifacts and files of models one each, and bytes of these, '
  'versions, objects that are owed, uploads, models and the registry. Reads everything: for recounts.';
GRANT SELECT ON TABLE artifacts.stored_rows_v1 TO tidemark_usage;

CREATE FUNCTION artifacts.add_storage(org uuid, artifact_bytes bigint, version_bytes bigint,
  pending_delete_bytes bigint, reserved_bytes bigint, artifacts bigint, collections bigint, versions_active bigint,
  versions_pending_delete bigint, unknown_sizes bigint)
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
  -- A transaction takes one slot for everything that it adds, so no two wait for each other here. Connections of a pool
  -- have numbers that follow each other.
  INSERT INTO artifacts.storage AS s (org_id, slot, artifact_bytes, version_bytes, pending_delete_bytes, reserved_bytes,
                                      artifacts, collections, versions_active, versions_pending_delete, unknown_sizes)
  VALUES (org, pg_backend_pid() % 16, add_storage.artifact_bytes, add_storage.version_bytes,
          add_storage.pending_delete_bytes, add_storage.reserved_bytes, add_storage.artifacts, add_storage.collections,
          add_storage.versions_active, add_storage.versions_pending_delete, add_storage.unknown_sizes)
  ON CONFLICT (org_id, slot) DO UPDATE SET
    artifact_bytes = s.artifact_bytes + excluded.artifact_bytes,
    version_bytes = s.version_bytes + excluded.version_bytes,
    pending_delete_bytes = s.pending_delete_bytes + excluded.pending_delete_bytes,
    reserved_bytes = s.reserved_bytes + excluded.reserved_bytes,
    artifacts = s.artifacts + excluded.artifacts,
    collections = s.collections + excluded.collections,
    versions_active = s.versions_active + excluded.versions_active,
    versions_pending_delete = s.versions_pending_delete + excluded.versions_pending_delete,
    unknown_sizes = s.unknown_sizes + excluded.unknown_sizes;
END
$function$;
COMMENT ON FUNCTION artifacts.add_storage IS 'Adds to the bytes and numbers of an organization.';
REVOKE ALL ON FUNCTION artifacts.add_storage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.add_storage TO tidemark_artifacts;

CREATE FUNCTION artifacts.keep_objects(org uuid, ids uuid[], sizes bigint[], digests bytea[])
RETURNS TABLE(wanted uuid, kept uuid)
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  written record;
  same uuid;
BEGIN
  FOR written IN
    SELECT u.id, u.size_bytes, u.sha256 FROM unnest(ids, sizes, digests) AS u (id, size_bytes, sha256)
    ORDER BY u.sha256, u.size_bytes, u.id
  LOOP
    -- Two that add the same bytes for the first time.
    PERFORM pg_advisory_xact_lock(hashtextextended('artifacts.content ' || org || encode(written.sha256, 'hex'), 0));
    SELECT o.id INTO same FROM artifacts.objects o
    WHERE o.org_id = org AND o.sha256 = written.sha256 AND o.size_bytes = written.size_bytes AND o.state = 'stored'
    FOR UPDATE;
    IF same IS NULL THEN
      UPDATE artifacts.objects o SET state = 'stored', size_bytes = written.size_bytes, sha256 = written.sha256, refs = 1,
                                     sweep_after = NULL, store_upload_id = NULL
      WHERE o.org_id = org AND o.id = written.id AND o.state = 'arriving';
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the object % is not expected any more', written.id USING ERRCODE = 'TM002';
      END IF;
      same := written.id;
    ELSE
      UPDATE artifacts.objects o SET refs = o.refs + 1 WHERE o.org_id = org AND o.id = same;
      UPDATE artifacts.objects o SET state = 'unneeded' WHERE o.org_id = org AND o.id = written.id AND o.state = 'arriving';
    END IF;
    wanted := written.id;
    kept := same;
    RETURN NEXT;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION artifacts.keep_objects IS
  'Makes written objects stored ones with one reference more, and returns for each the object that holds its bytes: '
  'itself, or one of the organization with the same content, and then it is not needed. Fails with TM002 if one was '
  'given up in the meantime.';
REVOKE ALL ON FUNCTION artifacts.keep_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.keep_objects TO tidemark_artifacts;

CREATE FUNCTION artifacts.release_objects(org uuid, ids uuid[], owed bigint[])
RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  released record;
  left_refs integer;
  settled bigint := 0;
BEGIN
  FOR released IN
    SELECT u.id, count(*)::integer AS refs, sum(u.owed)::bigint AS owed
    FROM unnest(ids, owed) AS u (id, owed) CROSS JOIN LATERAL (
      SELECT o.sha256, o.size_bytes FROM artifacts.objects o WHERE o.org_id = org AND o.id = u.id OFFSET 0) o
    GROUP BY u.id, o.sha256, o.size_bytes ORDER BY o.sha256, o.size_bytes, u.id
  LOOP
    UPDATE artifacts.objects o SET
      refs = o.refs - released.refs,
      state = CASE WHEN o.refs = released.refs THEN 'unneeded' ELSE 'stored' END,
      sweep_after = CASE WHEN o.refs = released.refs THEN now() END,
      owed_bytes = CASE WHEN o.refs = released.refs THEN released.owed ELSE 0 END
    WHERE o.org_id = org AND o.id = released.id AND o.state = 'stored'
    RETURNING o.refs INTO STRICT left_refs;
    IF left_refs > 0 THEN
      settled := settled + released.owed;
    END IF;
  END LOOP;
  RETURN settled;
END
$function$;
COMMENT ON FUNCTION artifacts.release_objects IS
  'Takes a reference from each object, as often as it is named. Objects without references become unneeded and owe '
  'the given bytes until their own are gone. Returns what need not be owed, because the bytes stay for others.';
REVOKE ALL ON FUNCTION artifacts.release_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.release_objects TO tidemark_artifacts;

CREATE FUNCTION artifacts.copy_run_v1(org uuid, source uuid, copy uuid, project uuid, state json)
RETURNS json
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  rows_max constant integer := 500;
  after_at constant timestamptz := coalesce(state ->> 'at', '-infinity');
  after_id constant uuid := coalesce(state ->> 'id', '00000000-0000-0000-0000-000000000000');
  page uuid[];
  shared record;
  last_at timestamptz;
BEGIN
  -- None is deleted until the end, so that its bytes stay.
  page := ARRAY(SELECT a.id FROM artifacts.artifacts a
                WHERE a.org_id = org AND a.run_id = source AND (a.created_at, a.id) > (after_at, after_id)
                ORDER BY a.created_at, a.id LIMIT rows_max FOR KEY SHARE);
  -- Bytes that arrive now wait, and arrive for the copies as well.
  PERFORM FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT FROM artifacts.wanted_bytes b WHERE b.org_id = org AND b.row_id = w.id OFFSET 0 FOR SHARE) b;
  INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, step, size_bytes, sha256, mime_type,
                                   object_id, storage_backend, metadata, created_at)
  SELECT org, n.id, copy, project, a.type, a.name,
         CASE WHEN a.storage_backend = 'external' THEN a.uri ELSE replace(a.uri, a.id::text, n.id::text) END,
         a.step, a.size_bytes, a.sha256, a.mime_type, a.object_id, a.storage_backend, a.metadata, a.created_at
  FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT o.* FROM artifacts.artifacts o WHERE o.org_id = org AND o.id = w.id OFFSET 0) a
  CROSS JOIN LATERAL (SELECT platform.copied_id(copy, w.id) AS id) n;
  INSERT INTO artifacts.wanted_bytes (org_id, archive_id, sha256, row_id, is_entry, project_id, size_bytes, has_come)
  SELECT org, b.archive_id, b.sha256, platform.copied_id(copy, w.id), false, project, b.size_bytes, b.has_come
  FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT o.* FROM artifacts.wanted_bytes o WHERE o.org_id = org AND o.row_id = w.id OFFSET 0) b;
  -- In the order in which all lock objects.
  FOR shared IN
    SELECT a.object_id, count(*)::integer AS refs
    FROM unnest(page) AS w (id)
    CROSS JOIN LATERAL (SELECT o.object_id FROM artifacts.artifacts o WHERE o.org_id = org AND o.id = w.id OFFSET 0) a
    CROSS JOIN LATERAL (SELECT o.sha256, o.size_bytes FROM artifacts.objects o WHERE o.org_id = org AND o.id = a.object_id OFFSET 0) o
    GROUP BY a.object_id, o.sha256, o.size_bytes ORDER BY o.sha256, o.size_bytes, a.object_id
  LOOP
    UPDATE artifacts.objects o SET refs = o.refs + shared.refs
    WHERE o.org_id = org AND o.id = shared.object_id AND o.state = 'stored';
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the bytes of an artifact are gone';
    END IF;
  END LOOP;
  IF state IS NULL THEN
    INSERT INTO artifacts.edges (org_id, id, run_id, version_id, direction, source, project_id, created_at)
    SELECT org, platform.copied_id(copy, e.id), copy, e.version_id, e.direction, e.source, project, e.created_at
    FROM artifacts.edges e WHERE e.org_id = org AND e.run_id = copy_run_v1.source;
  END IF;
  IF page = '{}' THEN
    RETURN json_build_object('part', 'done');
  END IF;
  INSERT INTO artifacts.run_counts AS c (org_id, run_id, checkpoints, rollouts, files)
  SELECT org, copy, count(*) FILTER (WHERE a.type = 'checkpoint'), count(*) FILTER (WHERE a.type = 'rollout'),
         count(*) FILTER (WHERE a.type = 'file')
  FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT o.type FROM artifacts.artifacts o WHERE o.org_id = org AND o.id = w.id OFFSET 0) a
  ON CONFLICT (org_id, run_id) DO UPDATE SET checkpoints = c.checkpoints + excluded.checkpoints,
    rollouts = c.rollouts + excluded.rollouts, files = c.files + excluded.files;
  PERFORM artifacts.add_storage(org, s.bytes, 0, 0, 0, s.rows, 0, 0, 0, s.unknown)
  FROM (SELECT coalesce(sum(a.size_bytes) FILTER (WHERE a.object_id IS NOT NULL), 0)::bigint AS bytes, count(*) AS rows,
               count(*) FILTER (WHERE a.size_bytes IS NULL) AS unknown
        FROM unnest(page) AS w (id)
        CROSS JOIN LATERAL (SELECT o.size_bytes, o.object_id FROM artifacts.artifacts o
                            WHERE o.org_id = org AND o.id = platform.copied_id(copy, w.id) OFFSET 0) a) s;
  SELECT a.created_at INTO last_at FROM artifacts.artifacts a WHERE a.org_id = org AND a.id = page[cardinality(page)];
  RETURN json_build_object('part', CASE WHEN cardinality(page) < rows_max THEN 'done' ELSE 'artifacts' END,
                           'at', last_at, 'id', page[cardinality(page)]);
END
$function$;
COMMENT ON FUNCTION artifacts.copy_run_v1 IS
  'Copies the next plain artifacts of a run to another run, which nothing shows yet: the same bytes with a reference more, '
  'counted as if they were uploaded; and at first the edges. state is what the call before returned, null at the start; '
  'its part is done after the last ones. Versions stay in their collections.';
REVOKE ALL ON FUNCTION artifacts.copy_run_v1 FROM PUBLIC;
ALTER FUNCTION artifacts.copy_run_v1 OWNER TO tidemark_artifacts;
GRANT EXECUTE ON FUNCTION artifacts.copy_run_v1 TO tidemark_runs;

CREATE FUNCTION artifacts.copy_sizes_v1(org uuid, run_ids uuid[], OUT artifacts bigint, OUT bytes bigint)
RETURNS record
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT coalesce(sum(a.rows), 0)::bigint, coalesce(sum(a.bytes), 0)::bigint
  FROM unnest(run_ids) AS w (id)
  CROSS JOIN LATERAL (
    SELECT count(*) AS rows, sum(f.size_bytes) FILTER (WHERE f.object_id IS NOT NULL) AS bytes FROM artifacts.artifacts f
    WHERE f.org_id = org AND f.run_id = w.id OFFSET 0) a
$function$;
COMMENT ON FUNCTION artifacts.copy_sizes_v1 IS
  'Returns what copies of runs would count for: plain artifacts, and the bytes of those that are stored here.';
REVOKE ALL ON FUNCTION artifacts.copy_sizes_v1 FROM PUBLIC;
ALTER FUNCTION artifacts.copy_sizes_v1 OWNER TO tidemark_artifacts;
GRANT EXECUTE ON FUNCTION artifacts.copy_sizes_v1 TO tidemark_runs;

CREATE FUNCTION artifacts.follow_runs_v1(org uuid, run_ids uuid[], project_ids uuid[], rows_max integer)
RETURNS integer
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  followed integer;
  linked integer;
  begun integer;
BEGIN
  UPDATE artifacts.wanted_bytes b SET project_id = w.project_id
  FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
  CROSS JOIN LATERAL (SELECT f.id FROM artifacts.artifacts f
                      WHERE f.org_id = org AND f.run_id = w.run_id AND f.project_id <> w.project_id
                        AND f.object_id IS NULL AND f.storage_backend <> 'external' OFFSET 0 LIMIT rows_max) a
  WHERE b.org_id = org AND b.row_id = a.id;
  UPDATE artifacts.upload_sessions s SET project_id = w.project_id
  FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
  WHERE s.org_id = org AND s.run_id = w.run_id AND s.project_id <> w.project_id;
  GET DIAGNOSTICS begun = ROW_COUNT;
  WITH picked AS MATERIALIZED (
    SELECT a.id, w.project_id FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
    CROSS JOIN LATERAL (SELECT f.id FROM artifacts.artifacts f
                        WHERE f.org_id = org AND f.run_id = w.run_id AND f.project_id <> w.project_id OFFSET 0) a
    LIMIT rows_max
  )
  UPDATE artifacts.artifacts a SET project_id = p.project_id
  FROM picked p WHERE a.org_id = org AND a.id = p.id;
  GET DIAGNOSTICS followed = ROW_COUNT;
  WITH picked AS MATERIALIZED (
    SELECT e.id, w.project_id FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
    CROSS JOIN LATERAL (SELECT f.id FROM artifacts.edges f
                        WHERE f.org_id = org AND f.run_id = w.run_id AND f.project_id <> w.project_id OFFSET 0) e
    LIMIT rows_max
  )
  UPDATE artifacts.edges e SET project_id = p.project_id
  FROM picked p WHERE e.org_id = org AND e.id = p.id;
  GET DIAGNOSTICS linked = ROW_COUNT;
  RETURN followed + linked + begun;
END
$function$;
COMMENT ON FUNCTION artifacts.follow_runs_v1 IS
  'Gives plain artifacts and edges of moved runs, at most rows_max of each, and uploads that have begun, the projects of '
  'their runs. Returns how many it found. Versions stay in their collections, and uploads make theirs in these.';
REVOKE ALL ON FUNCTION artifacts.follow_runs_v1 FROM PUBLIC;
ALTER FUNCTION artifacts.follow_runs_v1 OWNER TO tidemark_artifacts;
GRANT EXECUTE ON FUNCTION artifacts.follow_runs_v1 TO tidemark_runs;

REVOKE CREATE ON SCHEMA artifacts FROM tidemark_artifacts;
