-- For lists of reports: the ids of projects by their names.
GRANT USAGE ON SCHEMA runs TO tidemark_reports;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_reports;
GRANT SELECT ON runs.project_refs_v1 TO tidemark_reports;
