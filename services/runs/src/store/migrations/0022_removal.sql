-- Runs and projects whose time of grace is over are removed. The infinite past as purge_after says that their removal has begun: they cannot be
-- restored and are listed nowhere.
GRANT USAGE ON SCHEMA runs TO tidemark_runs_worker;
SELECT platform.unfence_for('runs.runs', 'tidemark_runs_worker');
SELECT platform.unfence_for('runs.projects', 'tidemark_runs_worker');
GRANT SELECT, UPDATE (deleted_at, purge_after), DELETE ON runs.runs TO tidemark_runs_worker;
GRANT SELECT, UPDATE (purge_after, runs_deleted), DELETE ON runs.projects TO tidemark_runs_worker;
GRANT SELECT, DELETE ON runs.run_texts, runs.signs_of_life, runs.visibility_changes TO tidemark_runs_worker;
CREATE INDEX runs_to_remove ON runs.runs (purge_after) WHERE purge_after > '-infinity';
CREATE INDEX projects_to_remove ON runs.projects (purge_after) WHERE purge_after IS NOT NULL;
