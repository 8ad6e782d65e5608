-- For artifacts: whether a run exists, what it is called, and the names of projects.
GRANT USAGE ON SCHEMA runs TO tidemark_artifacts;
GRANT SELECT (org_id, id, project_id, name, display_status, created_at) ON runs.runs TO tidemark_artifacts;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_artifacts;
GRANT SELECT ON runs.run_refs_v1, runs.project_refs_v1 TO tidemark_artifacts;

CREATE VIEW runs.run_labels_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, name, display_status FROM runs.runs;
COMMENT ON VIEW runs.run_labels_v1 IS 'How a run is called where others refer to it.';
GRANT SELECT ON runs.run_labels_v1 TO tidemark_artifacts;
