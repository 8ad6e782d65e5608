-- For objects and attributes, which show artifacts of their run.
GRANT USAGE ON SCHEMA artifacts TO tidemark_ingest;
GRANT SELECT (org_id, id, run_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata, created_at)
  ON artifacts.artifacts TO tidemark_ingest;
GRANT SELECT ON artifacts.artifacts_v1 TO tidemark_ingest;
