-- What other services may read of this schema: nothing but these columns, and of their own
-- transaction's organization only, because the views check rights and rows as the reader.

-- For writes of run data: whether a run exists, and in which project.
CREATE VIEW runs.run_refs_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id FROM runs.runs;

-- For API keys that are bound to a project.
CREATE VIEW runs.project_refs_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, name FROM runs.projects;

GRANT USAGE ON SCHEMA runs TO tidemark_ingest, tidemark_control;
GRANT SELECT (org_id, id, project_id) ON runs.runs TO tidemark_ingest;
GRANT SELECT ON runs.run_refs_v1 TO tidemark_ingest;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_control;
GRANT SELECT ON runs.project_refs_v1 TO tidemark_control;
