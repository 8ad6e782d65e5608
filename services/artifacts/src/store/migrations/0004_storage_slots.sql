-- Sixteen rows for each organization, so that writes of one organization rarely wait for each other: what it keeps is the
-- sum over them. Most of a page stays free, so that an update needs no new index entry.
ALTER TABLE artifacts.storage
  ADD COLUMN slot smallint NOT NULL DEFAULT 0 CHECK (slot BETWEEN 0 AND 15),
  ADD COLUMN unknown_sizes bigint NOT NULL DEFAULT 0,
  -- What one slot has got, another one may give back.
  DROP CONSTRAINT storage_artifact_bytes_check,
  DROP CONSTRAINT storage_version_bytes_check,
  DROP CONSTRAINT storage_pending_delete_bytes_check,
  DROP CONSTRAINT storage_reserved_bytes_check,
  DROP CONSTRAINT storage_artifacts_check,
  DROP CONSTRAINT storage_collections_check,
  DROP CONSTRAINT storage_versions_active_check,
  DROP CONSTRAINT storage_versions_pending_delete_check,
  DROP CONSTRAINT storage_pkey,
  ADD PRIMARY KEY (org_id, slot),
  SET (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE artifacts.storage ALTER COLUMN slot DROP DEFAULT;
COMMENT ON TABLE artifacts.storage IS 'what an organization keeps: the sum over the slots, each of which may be negative';
COMMENT ON COLUMN artifacts.storage.slot IS 'of the connection that writes; a transaction writes one';
COMMENT ON COLUMN artifacts.storage.unknown_sizes IS 'plain artifacts that came without a size';

-- The rows are fenced from their owner. Writers wait until this is committed.
ALTER TABLE artifacts.artifacts NO FORCE ROW LEVEL SECURITY;
ALTER TABLE artifacts.storage NO FORCE ROW LEVEL SECURITY;
UPDATE artifacts.storage s SET unknown_sizes = u.artifacts
FROM (SELECT a.org_id, count(*) AS artifacts FROM artifacts.artifacts a WHERE a.size_bytes IS NULL GROUP BY a.org_id) u
WHERE s.org_id = u.org_id;
ALTER TABLE artifacts.artifacts FORCE ROW LEVEL SECURITY;
ALTER TABLE artifacts.storage FORCE ROW LEVEL SECURITY;

-- Processes of the version before call it without the last argument.
DROP FUNCTION artifacts.add_storage;
CREATE FUNCTION artifacts.add_storage(org uuid, artifact_bytes bigint, version_bytes bigint, pending_delete_bytes bigint,
  reserved_bytes bigint, artifacts bigint, collections bigint, versions_active bigint, versions_pending_delete bigint,
  unknown_sizes bigint DEFAULT 0)
  RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  -- A transaction takes one slot, whatever it adds how often, so no two wait for each other here. Connections of a pool
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
$$;
COMMENT ON FUNCTION artifacts.add_storage IS 'Adds to the bytes and numbers of an organization.';
REVOKE ALL ON FUNCTION artifacts.add_storage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION artifacts.add_storage TO tidemark_artifacts;

CREATE VIEW artifacts.usage_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, sum(s.artifacts)::bigint AS artifacts, sum(s.unknown_sizes)::bigint AS unknown_sizes,
         sum(s.collections)::bigint AS collections, sum(s.versions_active)::bigint AS versions_active,
         sum(s.versions_pending_delete)::bigint AS versions_pending_delete, sum(s.artifact_bytes)::bigint AS artifact_bytes,
         sum(s.version_bytes)::bigint AS version_bytes, sum(s.pending_delete_bytes)::bigint AS pending_delete_bytes,
         sum(s.reserved_bytes)::bigint AS reserved_bytes
  FROM artifacts.storage s GROUP BY s.org_id;
COMMENT ON VIEW artifacts.usage_v1 IS
  'What an organization keeps, at this moment; no row: it never kept anything. Versions past their end are active ones '
  'until the sweeper has been there.';
GRANT USAGE ON SCHEMA artifacts TO tidemark_usage;
GRANT SELECT ON artifacts.storage TO tidemark_usage;
GRANT SELECT ON artifacts.usage_v1 TO tidemark_artifacts, tidemark_usage;
