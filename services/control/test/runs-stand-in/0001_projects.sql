-- As much of the runs schema as this service reads of it.
CREATE SCHEMA runs;
CREATE TABLE runs.projects (org_id uuid NOT NULL, id uuid NOT NULL, name text NOT NULL, PRIMARY KEY (org_id, id));
SELECT platform.fence('runs.projects');
CREATE VIEW runs.project_refs_v1 WITH (security_invoker = true) AS SELECT org_id, id, name FROM runs.projects;
GRANT USAGE ON SCHEMA runs TO tidemark_control;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_control;
GRANT SELECT ON runs.project_refs_v1 TO tidemark_control;
