-- A run that is removed leaves the list of runs that were imported.
CREATE INDEX imported_runs_of_run ON imports.imported_runs (org_id, run_id);
GRANT DELETE ON imports.staged TO tidemark_imports;
