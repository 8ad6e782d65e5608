-- A pinned search_path that does not name pg_temp has it first all the same, for tables and types: whoever may make temporary tables could put one
-- in the place of a catalog. Named last, it hides nothing.
ALTER FUNCTION control.count_added_members SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.count_changed_members SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.find_credential SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.find_invitation SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.list_organizations SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.memberships_of SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.projection_page SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.promised_seats SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.record_use SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION control.slug_taken SET search_path = pg_catalog, pg_temp;
