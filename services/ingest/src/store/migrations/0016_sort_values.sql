-- What lists sorted by a metric read, with every look-up behind OFFSET 0: one plan, whatever the sizes.

CREATE OR REPLACE VIEW ingest.metric_sort_values_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.sort_best, k.sort_latest, k.sort_created_at
  FROM ingest.metric_keys k
  WHERE k.sort_best IS NOT NULL AND k.sort_latest IS NOT NULL
    AND NOT EXISTS (SELECT FROM ingest.unindexed_runs u WHERE u.org_id = k.org_id AND u.run_id = k.run_id OFFSET 0);

CREATE FUNCTION ingest.unindexed_sort_values_v2(org uuid, of_key text)
RETURNS TABLE (run_id uuid, sort_best double precision, sort_latest double precision)
LANGUAGE sql STABLE AS $$
  SELECT u.run_id,
         CASE WHEN k.minimise THEN - p.stats[(k.key_id & 31) * 10 + 4] ELSE p.stats[(k.key_id & 31) * 10 + 6] END,
         p.stats[(k.key_id & 31) * 10 + 8]
  FROM ingest.unindexed_runs u
  CROSS JOIN LATERAL (SELECT o.key_id, o.minimise FROM ingest.metric_keys o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.key = of_key COLLATE "C" OFFSET 0) k
  CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.page = k.key_id >> 5 OFFSET 0) p
  WHERE u.org_id = org
$$;
REVOKE ALL ON FUNCTION ingest.unindexed_sort_values_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.unindexed_sort_values_v2 TO tidemark_runs;
