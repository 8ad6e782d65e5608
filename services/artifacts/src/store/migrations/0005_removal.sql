-- Runs, projects and organizations whose time of grace is over are removed. The role of the service can delete all of it already but this.
GRANT DELETE ON artifacts.wanted_bytes TO tidemark_artifacts;
-- A project takes its uploads, lineage and wanted bytes with it.
CREATE INDEX sessions_of_run ON artifacts.upload_sessions (org_id, run_id);
