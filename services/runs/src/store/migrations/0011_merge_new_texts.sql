-- Entries of the index of searched texts cost less the more of them are merged together, but searches read what is not
-- merged from end to end, and a create that merges keeps all creates of its project waiting. So the process that creates
-- runs has them merged beside the creates; these merge only what has become twice as long as it lets it.

ALTER FUNCTION runs.index_new_runs SET gin_pending_list_limit = 4096;

CREATE FUNCTION runs.merge_new_texts() RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog
  SET gin_pending_list_limit = 64 SET work_mem = '32MB' AS $$
DECLARE
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
BEGIN
  -- PostgreSQL merges what is there when a row is added to a long list. gin_clean_pending_list() would go on with what
  -- others add meanwhile, in smaller and smaller merges, and need twice the time for each entry. The merge stays when
  -- the row is taken back.
  INSERT INTO runs.run_texts (org_id, run_id, project_id, created_at, status, display_status, irregular, name, tags,
                              notes, summary, config, metadata)
  VALUES (nobody, nobody, nobody, now(), '', '', false, '', '{}', '', '', '', '');
  RAISE EXCEPTION USING ERRCODE = 'TM001', MESSAGE = 'the row is taken back';
EXCEPTION WHEN SQLSTATE 'TM001' THEN
  NULL;
END
$$;
COMMENT ON FUNCTION runs.merge_new_texts IS
  'Merges what was added to the index of searched texts, from 64 kB on, so that searches find it faster. Texts can be '
  'added meanwhile. Does nothing while another transaction merges.';
REVOKE ALL ON FUNCTION runs.merge_new_texts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.merge_new_texts TO tidemark_runs;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.merge_new_texts OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
