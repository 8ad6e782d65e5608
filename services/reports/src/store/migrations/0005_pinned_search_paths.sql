-- A pinned search_path that does not name pg_temp has it first all the same, for tables and types: whoever may make temporary tables could put one
-- in the place of a catalog. Named last, it hides nothing.
ALTER FUNCTION reports.find_embed SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION reports.find_public SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION reports.find_shared SET search_path = pg_catalog, pg_temp;
