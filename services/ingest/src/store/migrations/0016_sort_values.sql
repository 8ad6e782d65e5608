-- What lists sorted by a metric read in one statement, whether the metric is a sort key or not.

DROP VIEW ingest.metric_sort_values_v1, ingest.unindexed_sort_values_v1, ingest.sort_values_v1;

CREATE VIEW ingest.sort_values_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.sort_best, k.sort_latest, k.sort_created_at,
         NOT EXISTS (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = k.org_id AND u.run_id = k.run_id OFFSET 0) AS indexed
  FROM ingest.metric_keys k;
COMMENT ON VIEW ingest.sort_values_v1 IS
  'The values to sort by as they are stored; more is better in sort_best. Those of a key in sort_keys_v1, by the column '
  'that it names, are exact and of all runs that have the key. Of other keys, those of indexed runs are exact; the '
  'other runs are in unindexed_sort_values_v2. OFFSET keeps it a look-up per run.';
GRANT SELECT ON ingest.sort_values_v1 TO tidemark_runs;

CREATE FUNCTION ingest.note_sort_v1(org uuid, of_key text, of_by text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- So few runs are looked up in about a millisecond, while a sort key costs every write something.
  unindexed_min constant integer := 50;
BEGIN
  PERFORM platform.enter_org(org);
  IF EXISTS (SELECT FROM ingest.sort_keys_v1 s WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C")
     OR unindexed_min <= (SELECT count(*) FROM (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = org LIMIT unindexed_min) u)
  THEN
    PERFORM ingest.ask_sort_key_v1(org, of_key, of_by);
  END IF;
END
$$;
REVOKE ALL ON FUNCTION ingest.note_sort_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.note_sort_v1 TO tidemark_runs;
COMMENT ON FUNCTION ingest.note_sort_v1 IS
  'Notes that a list of the organization was sorted by a key: asks for the sort key where it is one already, or where '
  'so many runs are not indexed that to look up each of them would be slow. Call it in a transaction of its own.';
