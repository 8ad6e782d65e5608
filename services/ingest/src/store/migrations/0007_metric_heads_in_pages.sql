-- What is known of the keys of a run, in pages of 32 keys instead of a row per key: a request of a
-- thousand keys writes 32 rows and not a thousand. And an order of the writes of a run that is the
-- order of their commits, so that nothing has to wait for a write that may still come in between.

-- Locked by each write until it commits: a lower number is always visible before a higher one.
CREATE TABLE ingest.metric_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  version bigint NOT NULL,
  key_count integer NOT NULL,
  point_count bigint NOT NULL,
  PRIMARY KEY (org_id, run_id)
) WITH (fillfactor = 50);

COMMENT ON COLUMN ingest.metric_runs.version IS 'id of the newest landing row that was ever written';
COMMENT ON COLUMN ingest.metric_runs.key_count IS 'how many keys the run has, and so the id of the next one';
COMMENT ON COLUMN ingest.metric_runs.point_count IS 'values that were ever stored';

CREATE TABLE ingest.metric_keys (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  key_id integer NOT NULL,
  minimise boolean NOT NULL,
  rank_best double precision,
  rank_latest double precision,
  rank_created_at timestamptz,
  PRIMARY KEY (org_id, run_id, key)
);

COMMENT ON COLUMN ingest.metric_keys.key_id IS 'from 0, in the order in which the keys of the run appeared';
COMMENT ON COLUMN ingest.metric_keys.minimise IS 'less is better';
COMMENT ON COLUMN ingest.metric_keys.rank_best IS 'the best value when the run was settled last, negative where less is better: more is better here';
COMMENT ON COLUMN ingest.metric_keys.rank_latest IS 'the latest value when the run was settled last';
COMMENT ON COLUMN ingest.metric_keys.rank_created_at IS 'when the run was created, which orders equal values';

-- Half of each page stays free and no index covers what changes, so that an update needs no new index
-- entry.
CREATE TABLE ingest.metric_head_pages (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  page integer NOT NULL,
  stats double precision[] NOT NULL,
  PRIMARY KEY (org_id, run_id, page)
) WITH (fillfactor = 50);

COMMENT ON COLUMN ingest.metric_head_pages.page IS 'key_id / 32';
COMMENT ON COLUMN ingest.metric_head_pages.stats IS
  'ten numbers for each key, in the order of their ids: count, mean, m2, min, min_step, max, max_step, latest, latest_step, first_step. m2: sum of the squared deviations from the mean, Infinity where a double cannot hold it; min_step and max_step: the lowest step with this value; latest: the value at the highest step, of several the one that arrived last';

-- At most 2.6 KB, read and written as they are.
ALTER TABLE ingest.metric_head_pages ALTER COLUMN stats SET STORAGE PLAIN;

-- The heads that there are, numbered in the order of their keys. The rows are fenced from their owner too.
ALTER TABLE ingest.metric_heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.metric_landing NO FORCE ROW LEVEL SECURITY;

INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise, rank_best, rank_latest, rank_created_at)
SELECT h.org_id, h.run_id, h.key, row_number() OVER (PARTITION BY h.org_id, h.run_id ORDER BY h.key) - 1, h.minimise,
       h.rank_best, h.rank_latest, h.rank_created_at
FROM ingest.metric_heads h;

INSERT INTO ingest.metric_head_pages (org_id, run_id, page, stats)
SELECT k.org_id, k.run_id, k.key_id / 32, array_agg(s.number ORDER BY k.key_id, s.n)
FROM ingest.metric_keys k
JOIN ingest.metric_heads h ON h.org_id = k.org_id AND h.run_id = k.run_id AND h.key = k.key
CROSS JOIN LATERAL unnest(ARRAY[
  h.count::double precision, h.mean, h.m2, h.min, h.min_step, h.max, h.max_step, h.latest, h.latest_step, h.first_step
]) WITH ORDINALITY AS s (number, n)
GROUP BY k.org_id, k.run_id, k.key_id / 32;

INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
SELECT h.org_id, h.run_id, greatest(max(h.latest_id), coalesce(l.last_id, 0)), count(*), sum(h.count)
FROM ingest.metric_heads h
LEFT JOIN (SELECT m.org_id, m.run_id, max(m.id) AS last_id FROM ingest.metric_landing m GROUP BY m.org_id, m.run_id) l
  ON l.org_id = h.org_id AND l.run_id = h.run_id
GROUP BY h.org_id, h.run_id, l.last_id;

ALTER TABLE ingest.metric_landing FORCE ROW LEVEL SECURITY;

DROP VIEW ingest.metric_heads_v1, ingest.metric_ranks_v1, ingest.unsettled_ranks_v1, ingest.unsettled_points_v1;
DROP TABLE ingest.metric_heads;
DROP FUNCTION ingest.append_metrics, ingest.landing_page, ingest.merged_mean, ingest.merged_m2;

-- Read backwards: values and times descend together.
CREATE INDEX metric_keys_by_best ON ingest.metric_keys (org_id, key, rank_best, rank_created_at, run_id)
  WHERE rank_best IS NOT NULL;
CREATE INDEX metric_keys_by_latest ON ingest.metric_keys (org_id, key, rank_latest, rank_created_at, run_id)
  WHERE rank_latest IS NOT NULL;

SELECT platform.fence('ingest.metric_runs');
SELECT platform.fence('ingest.metric_keys');
SELECT platform.fence('ingest.metric_head_pages');
GRANT SELECT, INSERT, UPDATE ON ingest.metric_runs, ingest.metric_keys, ingest.metric_head_pages TO tidemark_ingest;
GRANT SELECT ON ingest.metric_runs, ingest.metric_keys, ingest.metric_head_pages TO tidemark_runs;

COMMENT ON COLUMN ingest.metric_landing.id IS 'the version of the run that this write made: the order of arrival';
COMMENT ON COLUMN ingest.compaction_marks.kind IS 'what is compacted: logs, metrics';
COMMENT ON COLUMN ingest.compaction_marks.part IS 'the part of the run that is compacted as one: of logs, the stream; of metrics, none';

-- The heads as other services may read them: aggregates per run and key. variance is the population
-- variance, null where a double cannot hold it; best follows the minimum where less is better, else
-- the maximum.
-- A look-up of the page for each key: a join would read all pages of a run for a few keys.
CREATE VIEW ingest.metric_heads_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key,
         p.stats[p.at + 1]::bigint AS count,
         p.stats[p.at + 4] AS min,
         p.stats[p.at + 6] AS max,
         p.stats[p.at + 2] AS mean,
         CASE WHEN p.stats[p.at + 3] < 1e-290 THEN 0
              WHEN p.stats[p.at + 3] < 'Infinity' THEN p.stats[p.at + 3] / p.stats[p.at + 1] END AS variance,
         p.stats[p.at + 8] AS latest,
         p.stats[p.at + 9] AS latest_step,
         p.stats[p.at + CASE WHEN k.minimise THEN 4 ELSE 6 END] AS best,
         p.stats[p.at + CASE WHEN k.minimise THEN 5 ELSE 7 END] AS best_step,
         p.stats[p.at + 10] AS first_step,
         p.stats[p.at + 9] AS last_step
  FROM ingest.metric_keys k
  CROSS JOIN LATERAL (SELECT o.stats, (k.key_id & 31) * 10 AS at FROM ingest.metric_head_pages o
                      WHERE o.org_id = k.org_id AND o.run_id = k.run_id AND o.page = k.key_id >> 5 OFFSET 0) p;

-- How many keys and values a run has, its keys, and the pages as they are, for readers of many runs: of
-- a run with few keys all pages are read at once, and of 100,000 keys counting the heads would take a
-- tenth of a second.
CREATE VIEW ingest.metric_runs_v1 WITH (security_invoker = true) AS
  SELECT m.org_id, m.run_id, m.key_count, m.point_count FROM ingest.metric_runs m;
CREATE VIEW ingest.metric_keys_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.key_id, k.minimise FROM ingest.metric_keys k;
CREATE VIEW ingest.metric_head_pages_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, p.run_id, p.page, p.stats FROM ingest.metric_head_pages p;
GRANT SELECT ON ingest.metric_runs_v1, ingest.metric_keys_v1, ingest.metric_head_pages_v1 TO tidemark_runs;

-- The sortable values of settled runs.
CREATE VIEW ingest.metric_ranks_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.rank_best, k.rank_latest, k.rank_created_at
  FROM ingest.metric_keys k
  WHERE k.rank_best IS NOT NULL AND k.rank_latest IS NOT NULL
    AND NOT EXISTS (SELECT FROM ingest.unsettled_runs u WHERE u.org_id = k.org_id AND u.run_id = k.run_id);

-- The same of the runs that are not settled.
CREATE VIEW ingest.unsettled_ranks_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key,
         CASE WHEN k.minimise THEN -p.stats[(k.key_id & 31) * 10 + 4] ELSE p.stats[(k.key_id & 31) * 10 + 6] END AS rank_best,
         p.stats[(k.key_id & 31) * 10 + 8] AS rank_latest
  FROM ingest.unsettled_runs u
  JOIN ingest.metric_keys k ON k.org_id = u.org_id AND k.run_id = u.run_id
  CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_head_pages o
                      WHERE o.org_id = k.org_id AND o.run_id = k.run_id AND o.page = k.key_id >> 5 OFFSET 0) p;

-- How many values the runs have that are not settled, beyond those counted when they were.
CREATE VIEW ingest.unsettled_points_v1 WITH (security_invoker = true) AS
  SELECT u.org_id, u.run_id,
         coalesce((SELECT m.point_count FROM ingest.metric_runs m WHERE m.org_id = u.org_id AND m.run_id = u.run_id), 0)::numeric
         - coalesce((SELECT p.points FROM ingest.run_points p WHERE p.org_id = u.org_id AND p.run_id = u.run_id), 0) AS points_since
  FROM ingest.unsettled_runs u;
GRANT SELECT ON ingest.metric_heads_v1 TO tidemark_ingest;
GRANT SELECT ON ingest.metric_heads_v1, ingest.metric_ranks_v1, ingest.unsettled_ranks_v1, ingest.unsettled_points_v1
  TO tidemark_runs;

-- Brings the copies of the next heads of a run up to date; null: there are none after `after_key`. Locks
-- nothing that a write changes.
CREATE OR REPLACE FUNCTION ingest.settle_heads(org uuid, run uuid, after_key text, keys_max integer) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  created timestamptz := (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run);
  last_key text;
BEGIN
  SELECT max(n.key) INTO last_key FROM (
    SELECT k.key FROM ingest.metric_keys k
    WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max
  ) n;
  UPDATE ingest.metric_keys k SET rank_best = h.rank_best, rank_latest = h.latest, rank_created_at = created
  FROM (SELECT n.key, CASE WHEN n.minimise THEN -p.stats[(n.key_id & 31) * 10 + 4] ELSE p.stats[(n.key_id & 31) * 10 + 6] END AS rank_best,
               p.stats[(n.key_id & 31) * 10 + 8] AS latest
        FROM ingest.metric_keys n
        CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_head_pages o
                            WHERE o.org_id = n.org_id AND o.run_id = n.run_id AND o.page = n.key_id >> 5 OFFSET 0) p
        WHERE n.org_id = org AND n.run_id = run AND n.key > after_key COLLATE "C" AND n.key <= last_key COLLATE "C") h
  WHERE k.org_id = org AND k.run_id = run AND k.key = h.key
    AND (k.rank_best IS DISTINCT FROM h.rank_best OR k.rank_latest IS DISTINCT FROM h.latest);
  RETURN last_key;
END
$$;

-- Ends the settling of a run: false when it was written since `touched`, and nothing is done.
CREATE OR REPLACE FUNCTION ingest.settle_run(org uuid, run uuid, touched integer) RETURNS boolean
  LANGUAGE plpgsql AS $$
DECLARE
  total bigint;
  before bigint;
BEGIN
  PERFORM FROM ingest.unsettled_runs u WHERE u.org_id = org AND u.run_id = run AND u.touched_minute = touched FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  total := coalesce((SELECT m.point_count FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = run), 0);
  SELECT p.points INTO before FROM ingest.run_points p WHERE p.org_id = org AND p.run_id = run;
  INSERT INTO ingest.run_points AS p (org_id, run_id, points) VALUES (org, run, total)
  ON CONFLICT (org_id, run_id) DO UPDATE SET points = excluded.points;
  INSERT INTO ingest.project_points AS p (org_id, project_id, points)
  SELECT org, r.project_id, total - coalesce(before, 0) FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run
  ON CONFLICT (org_id, project_id) DO UPDATE SET points = p.points + excluded.points;
  DELETE FROM ingest.unsettled_runs u WHERE u.org_id = org AND u.run_id = run;
  RETURN true;
END
$$;

-- What a writer has to know of some runs, in one snapshot. Arrays whose names end in `runs` hold places
-- in `run_ids`, from 1. First comes a row without a place with `key_ids`: the ids of `keys` in the runs
-- beside them, in their order, as 32-bit numbers, big-endian, -1 for a key that the run does not have.
-- Then of each run with metrics its version and how many keys and values it has, and each head page that
-- is asked for by `page_runs` and `pages`, or that one of these keys is in if the run is `with_pages`, as
-- array_send writes it. Plans as of append_metric_group.
CREATE FUNCTION ingest.metric_run_states(
  org uuid, run_ids uuid[], with_pages boolean[], key_runs integer[], keys text[], page_runs integer[], pages integer[]
) RETURNS TABLE (place integer, key_ids bytea, version bigint, key_count integer, point_count bigint,
                 page integer, stats bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    WITH found AS MATERIALIZED (
      SELECT k.run, k.n, (SELECT m.key_id FROM ingest.metric_keys m
                          WHERE m.org_id = org AND m.run_id = run_ids[k.run] AND m.key = k.key COLLATE "C") AS id
      FROM unnest(key_runs, keys) WITH ORDINALITY AS k (run, key, n)
    )
    SELECT NULL::integer, (SELECT string_agg(int4send(coalesce(f.id, -1)), ''::bytea ORDER BY f.n) FROM found f),
           NULL::bigint, NULL::integer, NULL::bigint, NULL::integer, NULL::bytea
    UNION ALL
    SELECT r.place::integer, NULL, m.version, m.key_count, m.point_count, NULL, NULL
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, place)
    CROSS JOIN LATERAL (SELECT o.* FROM ingest.metric_runs o WHERE o.org_id = org AND o.run_id = r.id OFFSET 0) m
    UNION ALL
    SELECT w.run, NULL, NULL, NULL, NULL, w.page, array_send(p.stats)
    FROM (SELECT f.run, f.id >> 5 AS page FROM found f WHERE f.id IS NOT NULL AND with_pages[f.run]
          UNION SELECT a.run, a.page FROM unnest(page_runs, pages) AS a (run, page)) w
    CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_head_pages o
                        WHERE o.org_id = org AND o.run_id = run_ids[w.run] AND o.page = w.page OFFSET 0) p;
END
$$;

-- Locks some runs, distinct and ascending, until the transaction ends, so that what is read of them next
-- cannot change.
CREATE FUNCTION ingest.lock_metric_runs(org uuid, run_ids uuid[]) RETURNS void
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, r.id, 0, 0, 0 FROM unnest(run_ids) AS r (id)
  ON CONFLICT (org_id, run_id) DO NOTHING;
  PERFORM FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT FROM ingest.metric_runs o
                      WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m;
END
$$;

-- A stretch of a head page: the heads from the slot on, ten numbers each. Before it and behind it the
-- page stays as it is.
CREATE TYPE ingest.metric_head_stretch AS (run integer, page integer, slot integer, stats double precision[]);

-- Stores a group of requests of one organization, of all of them or none, with what they make of the
-- heads. Every array whose name ends in `runs` holds places in `run_ids`, from 1; the rows that belong
-- together stand side by side.
-- - `run_ids`, distinct and ascending; `versions` that the caller's knowledge of them is of, 0 where
--   nothing was ever written; `next_versions`, `key_counts` and `point_counts` that the writes make;
--   `noted`: the caller knows that the run has a recent note in unsettled_runs.
-- - one element per request: its `write_runs`, `seqs` (the next versions of the run, one by one), the
--   range of its steps, its block, and the seconds in which a compactor shall look, negative for a
--   request that leaves no mark.
-- - `keys`, `bodies`, `replies`: the idempotency records of the requests that have them, keys distinct.
-- - `new_key_runs` ...: keys that the runs did not have; `stretches`: what changes in their head pages.
-- Outcomes: `applied`; `keys`: some keys cannot be used, `places` of them, as claim_keys says; `stale`: the
-- runs at `places` have other versions by now. Nothing was written in both of the last.
-- Look-ups are laterals behind OFFSET 0, and changes go through ON CONFLICT: a plan that was made while a
-- table was small must not read it whole when it has grown. And one plan is right for all values:
-- planning at each call would cost more than all the rest.
CREATE FUNCTION ingest.append_metric_group(
  org uuid,
  run_ids uuid[], versions bigint[], next_versions bigint[], key_counts integer[], point_counts bigint[], noted boolean[],
  write_runs integer[], seqs bigint[], first_steps double precision[], last_steps double precision[], blocks bytea[],
  mark_seconds double precision[],
  keys bytea[], bodies bytea[], replies bytea[],
  new_key_runs integer[], new_keys text[], new_key_ids integer[], new_minimise boolean[],
  stretches ingest.metric_head_stretch[],
  OUT outcome text, OUT places integer[], OUT same_bodies boolean[], OUT old_replies bytea[]
) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  minute constant integer := floor(extract(epoch FROM now()) / 60)::integer;
BEGIN
  PERFORM platform.enter_org(org);

  IF cardinality(keys) > 0 THEN
    SELECT array_agg(c.place), array_agg(c.same_body), array_agg(c.reply) INTO places, same_bodies, old_replies
    FROM platform.claim_keys(org, keys, bodies) c;
    IF places IS NOT NULL THEN
      outcome := 'keys';
      RETURN;
    END IF;
  END IF;

  -- Version 0 is the same as no row, so nothing has to be undone if the group is not applied.
  IF 0 = ANY (versions) THEN
    INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
    SELECT org, r.id, 0, 0, 0 FROM unnest(run_ids, versions) AS r (id, version) WHERE r.version = 0 ORDER BY r.id
    ON CONFLICT (org_id, run_id) DO NOTHING;
  END IF;
  SELECT array_agg(r.place) FILTER (WHERE m.version IS DISTINCT FROM r.version) INTO places
  FROM unnest(run_ids, versions) WITH ORDINALITY AS r (id, version, place)
  LEFT JOIN LATERAL (SELECT o.version FROM ingest.metric_runs o
                     WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m ON true;
  IF places IS NOT NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;

  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, r.* FROM unnest(run_ids, next_versions, key_counts, point_counts) AS r
  ON CONFLICT (org_id, run_id) DO UPDATE
  SET version = excluded.version, key_count = excluded.key_count, point_count = excluded.point_count;

  INSERT INTO ingest.metric_landing (org_id, run_id, id, received_us, first_step, last_step, points)
  SELECT org, run_ids[w.run], w.seq, (extract(epoch FROM now()) * 1000000)::bigint, w.first_step, w.last_step, w.block
  FROM unnest(write_runs, seqs, first_steps, last_steps, blocks) AS w (run, seq, first_step, last_step, block);

  IF cardinality(keys) > 0 THEN
    PERFORM platform.keep_keys(org, keys, bodies, replies);
  END IF;

  IF 0 <= ANY (mark_seconds) THEN
    INSERT INTO ingest.compaction_marks (org_id, kind, run_id, part, id, due_at)
    SELECT org, 'metrics', run_ids[w.run], '', w.seq, now() + make_interval(secs => w.seconds)
    FROM unnest(write_runs, seqs, mark_seconds) AS w (run, seq, seconds) WHERE w.seconds >= 0;
  END IF;

  -- Whoever settles one of the runs meanwhile is waited for.
  IF false = ANY (noted) THEN
    INSERT INTO ingest.unsettled_runs AS u (org_id, run_id, touched_minute)
    SELECT org, r.id, minute FROM unnest(run_ids, noted) AS r (id, noted)
    WHERE NOT r.noted AND NOT EXISTS (SELECT FROM ingest.unsettled_runs o
                                      WHERE o.org_id = org AND o.run_id = r.id AND o.touched_minute >= minute OFFSET 0)
    ON CONFLICT (org_id, run_id) DO UPDATE SET touched_minute = greatest(u.touched_minute, excluded.touched_minute);
  END IF;

  IF cardinality(new_keys) > 0 THEN
    INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise)
    SELECT org, run_ids[k.run], k.key, k.id, k.minimise
    FROM unnest(new_key_runs, new_keys, new_key_ids, new_minimise) AS k (run, key, id, minimise);
  END IF;
  INSERT INTO ingest.metric_head_pages (org_id, run_id, page, stats)
  SELECT org, run_ids[s.run], s.page,
         p.stats[1:s.slot * 10] || s.stats || p.stats[s.slot * 10 + cardinality(s.stats) + 1:320]
  FROM unnest(stretches) s
  LEFT JOIN LATERAL (SELECT o.stats FROM ingest.metric_head_pages o
                     WHERE o.org_id = org AND o.run_id = run_ids[s.run] AND o.page = s.page
                       AND (s.slot > 0 OR cardinality(s.stats) < 320) OFFSET 0) p ON true
  ON CONFLICT (org_id, run_id, page) DO UPDATE SET stats = excluded.stats;
  outcome := 'applied';
END
$$;

REVOKE ALL ON FUNCTION ingest.metric_run_states, ingest.lock_metric_runs, ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_run_states, ingest.lock_metric_runs, ingest.append_metric_group TO tidemark_ingest;
