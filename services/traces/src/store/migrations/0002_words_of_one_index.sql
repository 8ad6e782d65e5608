-- A search by words must use the index of words and no other, whatever statistics there are: where PostgreSQL takes an
-- organization for a small one, it would rather read all of its traces by the order of a list. So the index has the
-- organization as a text, and what searches read compares the organization as a text, which no other index can answer.
DROP INDEX traces.traces_words;
CREATE INDEX traces_words ON traces.traces
  USING gin ((org_id::text), traces.search_text(root_name, thread_id, rollout_id) public.gin_trgm_ops)
  WITH (gin_pending_list_limit = 1024);

CREATE OR REPLACE VIEW traces.found_traces AS
  SELECT org_id, trace_id, run_id, project_id, started_us, updated_us, status, kinds, min_step, root_name, thread_id,
    rollout_id, summary
  FROM traces.traces WHERE org_id::text = platform.org_id()::text;
