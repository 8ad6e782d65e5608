-- Exports show the imports of their runs.
CREATE INDEX job_runs_of_run ON imports.job_runs (org_id, run_id, job_id) WHERE run_id IS NOT NULL;
