-- For traces: whether a run exists, what it is called, and the names of projects.
GRANT USAGE ON SCHEMA runs TO tidemark_traces;
GRANT SELECT (org_id, id, project_id, name, display_status, created_at) ON runs.runs TO tidemark_traces;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_traces;
GRANT SELECT ON runs.run_refs_v1, runs.project_refs_v1, runs.run_labels_v1 TO tidemark_traces;
