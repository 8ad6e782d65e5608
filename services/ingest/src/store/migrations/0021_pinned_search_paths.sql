-- A pinned search_path that does not name pg_temp has it first all the same, for tables and types: whoever may make temporary tables could put one
-- in the place of a catalog. Named last, it hides nothing.
ALTER FUNCTION ingest.ask_sort_key_v1 SET search_path = pg_catalog, pg_temp;

-- Only what declares the view of columns reads it.
REVOKE ALL ON FUNCTION ingest.metric_columns_v1 FROM PUBLIC;
