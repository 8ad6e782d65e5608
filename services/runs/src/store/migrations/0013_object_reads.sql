-- For objects of many runs: what a run is called, and the names of projects.
GRANT SELECT (org_id, id, project_id, name, display_status) ON runs.runs TO tidemark_ingest;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_ingest;
GRANT SELECT ON runs.run_labels_v1, runs.project_refs_v1 TO tidemark_ingest;
