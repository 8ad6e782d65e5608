-- The values of attributes for the runs service, which shows, filters and sorts by the newest one of a path.
CREATE VIEW ingest.attribute_values_v1 WITH (security_invoker = true) AS
SELECT a.org_id, a.run_id, a.path, a.id, a.value FROM ingest.attributes a;
COMMENT ON VIEW ingest.attribute_values_v1 IS
  'What was logged at the paths of runs; of several rows of a path the one with the highest id is its value.';
GRANT SELECT ON ingest.attribute_values_v1 TO tidemark_runs;
