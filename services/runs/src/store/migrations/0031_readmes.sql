-- Longer texts about runs. A table of their own, so that no list and no search ever loads one.
CREATE TABLE runs.readmes (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  markdown text NOT NULL CHECK (octet_length(markdown) BETWEEN 1 AND 65536),
  PRIMARY KEY (org_id, run_id)
);
COMMENT ON TABLE runs.readmes IS 'The readme of a run; no row: it has none.';
SELECT platform.fence('runs.readmes');
GRANT SELECT, INSERT, UPDATE, DELETE ON runs.readmes TO tidemark_runs;
GRANT SELECT, DELETE ON runs.readmes TO tidemark_runs_worker;
