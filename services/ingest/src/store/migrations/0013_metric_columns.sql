-- Readers of many runs get columns of key aggregates, as they got pages before: what a page looks like is known to this
-- schema alone. Measured with PostgreSQL 18, 25 runs of 20 keys take 1.26 ms of PostgreSQL and 0.5 of the reader (pages: 1.0
-- and 0.6), 1,000 neighboring keys of 100,000 take 1.8 and 0.9 ms (1.4 and 1.8), in random order 6.0 and 1.2 ms (6.8 and 2.8).

CREATE AGGREGATE ingest.concatenated(double precision[]) (SFUNC = array_cat, STYPE = double precision[], INITCOND = '{}');
GRANT EXECUTE ON FUNCTION ingest.concatenated TO tidemark_runs;

CREATE FUNCTION ingest.metric_columns_v1(
  org uuid, run uuid, from_key text, end_key text, after_key text, keys_max bigint
) RETURNS TABLE (keys bytea, total bigint, latest bytea, min bytea, max bytea, mean bytea, variance bytea, count bytea,
                 best bytea, best_step bytea)
  LANGUAGE sql STABLE AS $$
  SELECT m.keys,
         CASE WHEN after_key = '' AND m.found < keys_max THEN m.found
              WHEN from_key = '' AND end_key IS NULL THEN coalesce(n.key_count, 0)
              ELSE (SELECT pg_catalog.count(*) FROM ingest.metric_keys k
                    WHERE k.org_id = org AND k.run_id = run AND k.key >= from_key COLLATE "C"
                      AND (end_key IS NULL OR k.key < end_key COLLATE "C")) END,
         a.latest, a.min, a.max, a.mean, a.variance, a.count, a.best, a.best_step
  FROM (SELECT (SELECT r.key_count::bigint FROM ingest.metric_runs r WHERE r.org_id = org AND r.run_id = run) AS key_count
        OFFSET 0) n
  CROSS JOIN LATERAL (
    -- The aggregates keep the order of the sorted rows.
    SELECT string_agg(textsend(k.key), '\x00'::bytea) AS keys, pg_catalog.count(*) AS found,
           array_agg(k.key_id) AS ids, array_agg(k.minimise) AS minimise
    FROM (SELECT k.key, k.key_id, k.minimise FROM ingest.metric_keys k
          WHERE k.org_id = org AND k.run_id = run AND k.key >= from_key COLLATE "C"
            AND (end_key IS NULL OR k.key < end_key COLLATE "C") AND k.key > after_key COLLATE "C"
          ORDER BY k.key LIMIT keys_max) k
  ) m
  CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT k.id >> 5 ORDER BY k.id >> 5) AS pages FROM unnest(m.ids) AS k (id)
  ) d
  CROSS JOIN LATERAL (
    -- The pages one after another, where that costs less than a look-up for each key: of a run with few keys, and where a
    -- page has several of the keys, as it mostly has, because keys that are next to each other were mostly logged together.
    SELECT CASE
      WHEN cardinality(d.pages) = 1 THEN (
        SELECT p.stats FROM ingest.metric_aggregate_pages p WHERE p.org_id = org AND p.run_id = run AND p.page = d.pages[1]
      )
      WHEN n.key_count <= 256 OR cardinality(d.pages) * 4 <= m.found THEN (
        SELECT ingest.concatenated(p.stats) FROM unnest(d.pages) AS k (page)
        CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                            WHERE o.org_id = org AND o.run_id = run AND o.page = k.page OFFSET 0) p
      ) END AS stats
    OFFSET 0
  ) w
  CROSS JOIN LATERAL (
    SELECT string_agg(float8send(k.stats[k.at + 8]), ''::bytea) AS latest,
           string_agg(float8send(k.stats[k.at + 4]), ''::bytea) AS min,
           string_agg(float8send(k.stats[k.at + 6]), ''::bytea) AS max,
           string_agg(float8send(k.stats[k.at + 2]), ''::bytea) AS mean,
           -- As metric_aggregates_v1: PostgreSQL must not divide the smallest numbers.
           string_agg(float8send(CASE WHEN k.stats[k.at + 3] < 1e-290 THEN 0
                                      WHEN k.stats[k.at + 3] < 'Infinity' THEN k.stats[k.at + 3] / k.stats[k.at + 1]
                                      ELSE 'NaN' END), ''::bytea) AS variance,
           string_agg(float8send(k.stats[k.at + 1]), ''::bytea) AS count,
           string_agg(float8send(k.stats[k.at + CASE WHEN k.minimise THEN 4 ELSE 6 END]), ''::bytea) AS best,
           string_agg(float8send(k.stats[k.at + CASE WHEN k.minimise THEN 5 ELSE 7 END]), ''::bytea) AS best_step
    FROM (
      SELECT w.stats, ((width_bucket(k.id >> 5, d.pages) - 1) * 32 + (k.id & 31)) * 10 AS at, k.minimise
      FROM unnest(m.ids, m.minimise) AS k (id, minimise) WHERE w.stats IS NOT NULL
      UNION ALL
      SELECT p.stats, (k.id & 31) * 10, k.minimise
      FROM unnest(m.ids, m.minimise) AS k (id, minimise)
      CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                          WHERE o.org_id = org AND o.run_id = run AND o.page = k.id >> 5 OFFSET 0) p
      WHERE w.stats IS NULL
    ) k
  ) a
$$;
GRANT EXECUTE ON FUNCTION ingest.metric_columns_v1 TO tidemark_runs;

COMMENT ON AGGREGATE ingest.concatenated(double precision[]) IS
  'Returns arrays of numbers one after another, in the order of the rows.';
COMMENT ON FUNCTION ingest.metric_columns_v1 IS
  'Returns a page of the key aggregates of a run as columns: the next keys_max keys from from_key on, before '
  'end_key (null: no end) and behind after_key (empty: from the start), in code point order, separated by NUL in '
  'keys; the other columns hold a double per key, big-endian, in the same order; NaN stands for a variance that a '
  'double cannot hold. best is the minimum where less is better, else the maximum. Columns are null when the page '
  'is empty. total counts the keys between from_key and end_key; keys are counted only where neither the page nor '
  'the run tells their number, because a run may have a hundred thousand. Bytes, because writing and reading '
  'thousands of numbers as text costs more than everything else. A plain query without settings, so that PostgreSQL '
  'inlines it.';

DROP VIEW ingest.metric_head_pages_v1, ingest.metric_runs_v1;
