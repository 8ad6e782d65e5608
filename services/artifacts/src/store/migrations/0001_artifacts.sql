CREATE SCHEMA artifacts;
GRANT USAGE ON SCHEMA artifacts TO tidemark_artifacts, tidemark_artifacts_worker, tidemark_definer;

-- Bytes in the object store, under the key `o/<org_id>/<id>`. The row is there before the first byte and until the last
-- one is gone, so that nothing in the store is ever without a row.
CREATE TABLE artifacts.objects (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  -- arriving: may be written; stored: verified, something refers to it; unneeded: nothing does, its bytes are to be removed
  state text COLLATE "C" NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving', 'stored', 'unneeded')),
  -- the store's name of an upload in parts
  store_upload_id text COLLATE "C",
  size_bytes bigint CHECK (size_bytes >= 0),
  sha256 bytea CHECK (octet_length(sha256) = 32),
  -- artifacts and entries that name it
  refs integer NOT NULL DEFAULT 0 CHECK (refs >= 0),
  -- of artifacts.storage.pending_delete_bytes, what goes when its bytes are gone
  owed_bytes bigint NOT NULL DEFAULT 0 CHECK (owed_bytes >= 0),
  -- not before this instant are its bytes removed, because addresses under which clients may write are valid until then
  sweep_after timestamptz,
  CHECK ((state = 'stored') = (refs > 0)),
  CHECK (state <> 'stored' OR (size_bytes IS NOT NULL AND sha256 IS NOT NULL)),
  CHECK ((state = 'stored') = (sweep_after IS NULL)),
  PRIMARY KEY (org_id, id)
);
-- Equal bytes of an organization are kept once.
CREATE UNIQUE INDEX objects_by_content ON artifacts.objects (org_id, sha256, size_bytes) WHERE state = 'stored';
CREATE INDEX objects_to_sweep ON artifacts.objects (sweep_after) WHERE state <> 'stored';

-- Files of runs, and references to files elsewhere.
CREATE TABLE artifacts.artifacts (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL CHECK (type IN ('checkpoint', 'rollout', 'file')),
  name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 512),
  uri text COLLATE "C" NOT NULL,
  step double precision,
  size_bytes bigint CHECK (size_bytes >= 0),
  -- as it was sent for files elsewhere
  sha256 text COLLATE "C",
  mime_type text COLLATE "C" NOT NULL,
  -- null: the bytes are elsewhere
  object_id uuid,
  -- how answers call the store
  storage_backend text COLLATE "C" NOT NULL CHECK (storage_backend IN ('external', 'local', 'r2')),
  metadata text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, id)
);
CREATE INDEX artifacts_of_run ON artifacts.artifacts (org_id, run_id, created_at DESC, id DESC);

-- How many artifacts a run has, by type; kept by whatever writes or deletes one.
CREATE TABLE artifacts.run_counts (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  checkpoints bigint NOT NULL DEFAULT 0 CHECK (checkpoints >= 0),
  rollouts bigint NOT NULL DEFAULT 0 CHECK (rollouts >= 0),
  files bigint NOT NULL DEFAULT 0 CHECK (files >= 0),
  PRIMARY KEY (org_id, run_id)
) WITH (fillfactor = 70);

-- Lines of versions.
CREATE TABLE artifacts.collections (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid NOT NULL,
  type text COLLATE "C" NOT NULL CHECK (type IN ('model', 'dataset', 'checkpoint', 'table', 'media', 'file')),
  name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 512),
  description text,
  metadata text NOT NULL,
  next_index integer NOT NULL DEFAULT 0 CHECK (next_index >= 0),
  -- of versions in state active
  versions_active bigint NOT NULL DEFAULT 0 CHECK (versions_active >= 0),
  bytes_active bigint NOT NULL DEFAULT 0 CHECK (bytes_active >= 0),
  -- of versions in state soft_deleted whose bytes are not gone
  bytes_pending_delete bigint NOT NULL DEFAULT 0 CHECK (bytes_pending_delete >= 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, project_id, type, name)
) WITH (fillfactor = 70);
CREATE INDEX collections_by_name ON artifacts.collections (org_id, name);
CREATE INDEX collections_newest ON artifacts.collections (org_id, updated_at DESC, id DESC);
CREATE INDEX collections_newest_of_project ON artifacts.collections (org_id, project_id, updated_at DESC, id DESC);

CREATE TABLE artifacts.versions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  collection_id uuid NOT NULL,
  project_id uuid NOT NULL,
  version_index integer NOT NULL CHECK (version_index >= 0),
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  source_run_id uuid NOT NULL,
  source_step double precision,
  file_count integer NOT NULL,
  size_bytes bigint NOT NULL,
  -- active, soft_deleted; a version is available when it is active and not past expires_at
  state text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'soft_deleted')),
  ttl_days integer CHECK (ttl_days BETWEEN 1 AND 3650),
  retention_mode text COLLATE "C" NOT NULL CHECK (retention_mode IN ('inherit', 'days', 'keep_forever', 'none')),
  expires_at timestamptz,
  delete_requested_at timestamptz,
  deleted_at timestamptz,
  -- when the bytes of a deleted version may be removed, and when they were
  purge_after timestamptz,
  purged_at timestamptz,
  audit_reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((state = 'soft_deleted') = (deleted_at IS NOT NULL)),
  CHECK ((state = 'soft_deleted') = (purge_after IS NOT NULL)),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, collection_id, version_index)
) WITH (fillfactor = 85);
CREATE INDEX versions_available ON artifacts.versions (org_id, collection_id, version_index DESC) WHERE state = 'active';
CREATE INDEX versions_by_digest ON artifacts.versions (org_id, digest);
CREATE INDEX versions_of_run ON artifacts.versions (org_id, source_run_id);
CREATE INDEX versions_to_expire ON artifacts.versions (expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
-- Active ones that are past their end until the sweeper comes: counters are read without them.
CREATE INDEX versions_past_end ON artifacts.versions (org_id, expires_at) WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX versions_past_end_of_collection ON artifacts.versions (org_id, collection_id, expires_at)
  WHERE state = 'active' AND expires_at IS NOT NULL;
CREATE INDEX versions_to_purge ON artifacts.versions (purge_after) WHERE state = 'soft_deleted' AND purged_at IS NULL;

CREATE TABLE artifacts.entries (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  version_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 1024),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('file', 'directory', 'reference')),
  size_bytes bigint CHECK (size_bytes >= 0),
  sha256 bytea CHECK (octet_length(sha256) = 32),
  mime_type text COLLATE "C" NOT NULL,
  reference_uri text COLLATE "C",
  -- null for references, and when the bytes are gone
  object_id uuid,
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, version_id, path)
);

CREATE TABLE artifacts.aliases (
  org_id uuid NOT NULL,
  collection_id uuid NOT NULL,
  alias text COLLATE "C" NOT NULL CHECK (octet_length(alias) BETWEEN 1 AND 64),
  version_id uuid NOT NULL,
  PRIMARY KEY (org_id, collection_id, alias)
);
CREATE INDEX aliases_of_version ON artifacts.aliases (org_id, version_id);

-- Which runs made and used a version.
CREATE TABLE artifacts.edges (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  version_id uuid NOT NULL,
  direction text COLLATE "C" NOT NULL CHECK (direction IN ('input', 'output')),
  source text COLLATE "C" NOT NULL DEFAULT 'sdk',
  project_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, run_id, version_id, direction)
);
CREATE INDEX edges_of_version ON artifacts.edges (org_id, version_id, created_at, id);

-- Uploads of versions.
CREATE TABLE artifacts.upload_sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  collection_id uuid NOT NULL,
  -- the id that the version will have
  version_id uuid NOT NULL,
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  aliases text[] COLLATE "C" NOT NULL,
  ttl_days integer CHECK (ttl_days BETWEEN 1 AND 3650),
  source_step double precision,
  part_size_bytes bigint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'uploading'
    CHECK (state IN ('uploading', 'completing', 'provider_completed', 'active', 'deduplicated', 'failed')),
  expires_at timestamptz NOT NULL,
  -- what `complete` was sent, while it is being verified
  completion bytea,
  -- the process that verifies it renews this; when it has passed, another one goes on
  verified_until timestamptz,
  -- the version that it became, its own or the one that was there
  result_version_id uuid,
  reason text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((state IN ('active', 'deduplicated')) = (result_version_id IS NOT NULL)),
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE INDEX sessions_to_expire ON artifacts.upload_sessions (expires_at) WHERE state = 'uploading';
CREATE INDEX sessions_ended ON artifacts.upload_sessions (created_at) WHERE state IN ('active', 'deduplicated', 'failed');
CREATE INDEX sessions_to_verify ON artifacts.upload_sessions (verified_until) WHERE state IN ('completing', 'provider_completed');

CREATE TABLE artifacts.upload_files (
  org_id uuid NOT NULL,
  session_id uuid NOT NULL,
  -- of the entry, when there is a version
  id uuid NOT NULL,
  path text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  size_bytes bigint,
  sha256 bytea,
  mime_type text COLLATE "C" NOT NULL,
  reference_uri text COLLATE "C",
  -- null: no bytes are to be sent
  upload_kind text COLLATE "C" CHECK (upload_kind IN ('inline', 'put', 'multipart')),
  part_count integer NOT NULL DEFAULT 0,
  object_id uuid,
  -- its bytes are in the object, whole and right
  verified boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, session_id, id)
);

-- Bytes and numbers of an organization, as clients count them: a file that two versions share counts twice. Kept by
-- whatever changes what they count.
CREATE TABLE artifacts.storage (
  org_id uuid PRIMARY KEY,
  artifact_bytes bigint NOT NULL DEFAULT 0 CHECK (artifact_bytes >= 0),
  version_bytes bigint NOT NULL DEFAULT 0 CHECK (version_bytes >= 0),
  -- of deleted artifacts and versions, until their bytes are gone
  pending_delete_bytes bigint NOT NULL DEFAULT 0 CHECK (pending_delete_bytes >= 0),
  -- of uploads that have not ended
  reserved_bytes bigint NOT NULL DEFAULT 0 CHECK (reserved_bytes >= 0),
  artifacts bigint NOT NULL DEFAULT 0 CHECK (artifacts >= 0),
  collections bigint NOT NULL DEFAULT 0 CHECK (collections >= 0),
  versions_active bigint NOT NULL DEFAULT 0 CHECK (versions_active >= 0),
  versions_pending_delete bigint NOT NULL DEFAULT 0 CHECK (versions_pending_delete >= 0)
) WITH (fillfactor = 70);

-- Signs the addresses under which gateways take parts themselves; the same in all processes.
CREATE TABLE artifacts.upload_secret (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  secret bytea NOT NULL CHECK (octet_length(secret) = 32)
);
INSERT INTO artifacts.upload_secret (secret)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
GRANT SELECT ON artifacts.upload_secret TO tidemark_artifacts;

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['objects', 'artifacts', 'run_counts', 'collections', 'versions', 'entries', 'aliases', 'edges',
                                'upload_sessions', 'upload_files', 'storage'] LOOP
    PERFORM platform.fence(format('artifacts.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON artifacts.%I TO tidemark_artifacts', fenced);
  END LOOP;
  -- The sweeper finds what is due in all organizations; what it then does, it does as the service in one of them.
  FOREACH fenced IN ARRAY ARRAY['objects', 'versions', 'upload_sessions'] LOOP
    PERFORM platform.unfence_for(format('artifacts.%I', fenced)::regclass, 'tidemark_artifacts_worker');
    EXECUTE format('GRANT SELECT ON artifacts.%I TO tidemark_artifacts_worker', fenced);
  END LOOP;
END
$$;

-- Both go through objects in the order of their content, so that no two transactions wait for each other.
CREATE FUNCTION artifacts.keep_objects(org uuid, ids uuid[], sizes bigint[], digests bytea[])
  RETURNS TABLE (wanted uuid, kept uuid)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  written record;
  same uuid;
BEGIN
  FOR written IN
    SELECT u.id, u.size_bytes, u.sha256 FROM unnest(ids, sizes, digests) AS u (id, size_bytes, sha256)
    ORDER BY u.sha256, u.size_bytes, u.id
  LOOP
    -- Two that bring the same bytes for the first time.
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
$$;
COMMENT ON FUNCTION artifacts.keep_objects IS
  'Makes written objects stored ones with one reference more, and returns for each the object that holds its bytes: '
  'itself, or one of the organization with the same content, and then it is not needed. Fails with TM002 if one was '
  'given up in the meantime.';
REVOKE ALL ON FUNCTION artifacts.keep_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.keep_objects TO tidemark_artifacts;

CREATE FUNCTION artifacts.release_objects(org uuid, ids uuid[], owed bigint[]) RETURNS bigint
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
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
$$;
COMMENT ON FUNCTION artifacts.release_objects IS
  'Takes a reference from each object, as often as it is named. Objects without references become unneeded and owe the '
  'given bytes until their own are gone. Returns what need not be owed, because the bytes stay for others.';
REVOKE ALL ON FUNCTION artifacts.release_objects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.release_objects TO tidemark_artifacts;

CREATE FUNCTION artifacts.add_storage(org uuid, artifact_bytes bigint, version_bytes bigint, pending_delete_bytes bigint,
  reserved_bytes bigint, artifacts bigint, collections bigint, versions_active bigint, versions_pending_delete bigint)
  RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO artifacts.storage AS s (org_id) VALUES (org) ON CONFLICT (org_id) DO NOTHING;
  UPDATE artifacts.storage s SET
    artifact_bytes = s.artifact_bytes + add_storage.artifact_bytes,
    version_bytes = s.version_bytes + add_storage.version_bytes,
    pending_delete_bytes = s.pending_delete_bytes + add_storage.pending_delete_bytes,
    reserved_bytes = s.reserved_bytes + add_storage.reserved_bytes,
    artifacts = s.artifacts + add_storage.artifacts,
    collections = s.collections + add_storage.collections,
    versions_active = s.versions_active + add_storage.versions_active,
    versions_pending_delete = s.versions_pending_delete + add_storage.versions_pending_delete
  WHERE s.org_id = org;
END
$$;
COMMENT ON FUNCTION artifacts.add_storage IS 'Adds to the bytes and numbers of an organization.';
REVOKE ALL ON FUNCTION artifacts.add_storage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.add_storage TO tidemark_artifacts;

-- What the service of runs shows of artifacts.
CREATE VIEW artifacts.run_counts_v1 WITH (security_invoker = true) AS
  SELECT org_id, run_id, checkpoints, rollouts, files FROM artifacts.run_counts;
COMMENT ON VIEW artifacts.run_counts_v1 IS 'How many artifacts a run has, by type; no row: none.';
CREATE VIEW artifacts.artifacts_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, run_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata, created_at
  FROM artifacts.artifacts;
COMMENT ON VIEW artifacts.artifacts_v1 IS 'Artifacts as clients see them.';
GRANT USAGE ON SCHEMA artifacts TO tidemark_runs;
GRANT SELECT ON artifacts.run_counts, artifacts.run_counts_v1 TO tidemark_runs;
GRANT SELECT (org_id, id, run_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata, created_at)
  ON artifacts.artifacts TO tidemark_runs;
GRANT SELECT ON artifacts.artifacts_v1 TO tidemark_runs;
