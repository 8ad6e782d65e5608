-- A pinned search_path that does not name pg_temp has it first all the same, for tables and types: whoever may make temporary tables could put one
-- in the place of a catalog. Named last, it hides nothing.
ALTER FUNCTION runs.adopt_changes_v1 SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.changed_page_v1 SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.index_changed_run SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.index_new_runs SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.lock_state_v1 SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.mark_change SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.merge_new_texts SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.notes_of SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.running_page_v1 SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.searchable SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.searchable_tags SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.set_state_v1 SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.take_run_id SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.take_run_ids SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.taken_run_ids SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION runs.texts_of SET search_path = pg_catalog, pg_temp;

-- What other services read of a schema are its views; of its functions they call those that they are given.
REVOKE ALL ON FUNCTION runs.texts_of FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.texts_of TO tidemark_runs, tidemark_definer;
