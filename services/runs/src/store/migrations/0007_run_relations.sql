-- Forks. A keyed request derives the id of its child from its key, so that it finds the child also
-- when the record of the key has expired; what it then has to compare is kept with the child.
ALTER TABLE runs.runs ADD COLUMN fork_fingerprint bytea CHECK (octet_length(fork_fingerprint) = 32);
COMMENT ON COLUMN runs.runs.fork_fingerprint IS 'SHA-256 of the keyed fork request; null for other runs';

-- The children of a run, newest first, of an organization or of one of its projects.
CREATE INDEX runs_children ON runs.runs (org_id, parent_run_id, created_at DESC, id DESC) INCLUDE (project_id)
  WHERE parent_run_id IS NOT NULL;
