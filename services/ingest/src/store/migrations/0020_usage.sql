-- What organizations use of their plans: values of the month and series of runs are counted by the writes themselves, in the counters that they
-- change anyway. Values that were written in this month before this change are not counted in it.
-- First, because writes take their runs before their counters.
ALTER TABLE ingest.metric_runs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.project_points
  ADD COLUMN series bigint NOT NULL DEFAULT 0,
  ADD COLUMN month date NOT NULL DEFAULT date_trunc('month', now() AT TIME ZONE 'UTC')::date,
  ADD COLUMN month_points bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN ingest.project_points.series IS 'how many keys its runs have, together';
COMMENT ON COLUMN ingest.project_points.month IS 'the first day of the month in UTC that month_points are of';

-- Writes end before this begins, and a call that arrives meanwhile cannot go on without counting: it has no values for the new columns.
-- Organization by organization, because the rows are fenced from their owner. In a new database there are none.
DO $$
DECLARE
  org uuid;
BEGIN
  IF to_regclass('runs.run_refs_v1') IS NULL THEN
    RETURN;
  END IF;
  FOR org IN SELECT DISTINCT m.org_id FROM ingest.metric_runs m LOOP
    PERFORM platform.enter_org(org);
    EXECUTE '
      INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series)
      SELECT $1, r.project_id, 0, 0, sum(m.key_count)
      FROM ingest.metric_runs m JOIN runs.run_refs_v1 r ON r.org_id = m.org_id AND r.id = m.run_id
      WHERE m.org_id = $1 GROUP BY r.project_id
      ON CONFLICT (org_id, project_id, slot) DO UPDATE SET series = excluded.series' USING org;
  END LOOP;
END
$$;
ALTER TABLE ingest.metric_runs FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.project_points ALTER COLUMN series DROP DEFAULT, ALTER COLUMN month DROP DEFAULT,
  ALTER COLUMN month_points DROP DEFAULT;

-- Values of ranks are in no list of runs. Sixteen counters for each organization.
CREATE TABLE ingest.rank_points (
  org_id uuid NOT NULL,
  slot smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
  points bigint NOT NULL,
  month date NOT NULL,
  month_points bigint NOT NULL,
  PRIMARY KEY (org_id, slot)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE ingest.rank_points IS 'how many values of ranks an organization has written: the sum over the slots';
COMMENT ON COLUMN ingest.rank_points.month IS 'the first day of the month in UTC that month_points are of';
SELECT platform.fence('ingest.rank_points');
GRANT SELECT, INSERT, UPDATE ON ingest.rank_points TO tidemark_ingest;

CREATE FUNCTION ingest.count_rank_values(org uuid, values_added bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ingest.rank_points AS p (org_id, slot, points, month, month_points)
  VALUES (org, floor(random() * 16)::smallint, values_added, date_trunc('month', now() AT TIME ZONE 'UTC')::date, values_added)
  ON CONFLICT (org_id, slot) DO UPDATE
  SET points = p.points + excluded.points,
      month_points = CASE WHEN p.month >= excluded.month THEN p.month_points ELSE 0 END + excluded.month_points,
      month = greatest(p.month, excluded.month);
END
$$;
REVOKE ALL ON FUNCTION ingest.count_rank_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.count_rank_values TO tidemark_ingest;
COMMENT ON FUNCTION ingest.count_rank_values IS
  'Counts values of ranks that this transaction stores. Call it last: another transaction may wait for the counter until this one is committed.';

DROP FUNCTION ingest.append_metric_group;
CREATE FUNCTION ingest.append_metric_group(org uuid, run_ids uuid[], versions bigint[], next_versions bigint[],
  key_counts integer[], point_counts bigint[], noted_minutes integer[], write_runs integer[], seqs bigint[],
  first_steps double precision[], last_steps double precision[], blocks bytea[], marker_seconds double precision[],
  keys bytea[], bodies bytea[], replies bytea[], new_key_runs integer[], new_keys text[], new_key_ids integer[],
  new_minimise boolean[], page_changes ingest.aggregate_page_change[], project_ids uuid[], project_values bigint[],
  project_series integer[], points_slot smallint, sort_keys_version bigint, sort_runs integer[], sort_names text[], sort_ids integer[],
  sort_minimise boolean[], sort_new boolean[], sort_bests double precision[], sort_latests double precision[],
  OUT outcome text, OUT indexes integer[], OUT same_bodies boolean[], OUT old_replies bytea[], OUT noted_minute integer)
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $$
DECLARE
  minute constant integer := floor(extract(epoch FROM now()) / 60)::integer;
  this_month constant date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
BEGIN
  PERFORM platform.enter_org(org);

  IF cardinality(keys) > 0 THEN
    SELECT array_agg(c.place), array_agg(c.same_body), array_agg(c.reply) INTO indexes, same_bodies, old_replies
    FROM platform.claim_keys(org, keys, bodies) c;
    IF indexes IS NOT NULL THEN
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
  SELECT array_agg(r.index) FILTER (WHERE m.version IS DISTINCT FROM r.version) INTO indexes
  FROM unnest(run_ids, versions) WITH ORDINALITY AS r (id, version, index)
  LEFT JOIN LATERAL (SELECT o.version FROM ingest.metric_runs o
                     WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m ON true;
  IF indexes IS NOT NULL THEN
    outcome := 'stale';
    RETURN;
  END IF;

  -- After the locks, which gave this transaction its number, and in a snapshot of its own: fill_sort_key relies on both.
  IF sort_keys_version <> coalesce((SELECT v.version FROM ingest.sort_key_versions v WHERE v.org_id = org), 0) THEN
    outcome := 'sort_keys';
    RETURN;
  END IF;

  INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count)
  SELECT org, r.* FROM unnest(run_ids, next_versions, key_counts, point_counts) AS r
  ON CONFLICT (org_id, run_id) DO UPDATE
  SET version = excluded.version, key_count = excluded.key_count, point_count = excluded.point_count;

  INSERT INTO ingest.metric_segments (org_id, run_id, id, received_us, first_step, last_step, points)
  SELECT org, run_ids[w.run], w.seq, (extract(epoch FROM now()) * 1000000)::bigint, w.first_step, w.last_step, w.block
  FROM unnest(write_runs, seqs, first_steps, last_steps, blocks) AS w (run, seq, first_step, last_step, block);

  IF cardinality(keys) > 0 THEN
    PERFORM platform.keep_keys(org, keys, bodies, replies);
  END IF;

  IF 0 <= ANY (marker_seconds) THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    SELECT org, 'metrics', run_ids[w.run], '', w.seq, now() + make_interval(secs => w.seconds)
    FROM unnest(write_runs, seqs, marker_seconds) AS w (run, seq, seconds) WHERE w.seconds >= 0;
  END IF;

  -- Waits for an indexer that has one of the runs.
  IF minute > ANY (noted_minutes) THEN
    INSERT INTO ingest.unindexed_runs AS u (org_id, run_id, touched_minute)
    SELECT org, r.id, minute FROM unnest(run_ids, noted_minutes) AS r (id, noted_minute)
    WHERE r.noted_minute < minute AND NOT EXISTS (SELECT FROM ingest.unindexed_runs o
                                      WHERE o.org_id = org AND o.run_id = r.id AND o.touched_minute >= minute OFFSET 0)
    ON CONFLICT (org_id, run_id) DO UPDATE SET touched_minute = greatest(u.touched_minute, excluded.touched_minute);
  END IF;

  IF cardinality(new_keys) > 0 THEN
    INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise)
    SELECT org, run_ids[k.run], k.key, k.id, k.minimise
    FROM unnest(new_key_runs, new_keys, new_key_ids, new_minimise) AS k (run, key, id, minimise);
  END IF;
  INSERT INTO ingest.metric_aggregate_pages (org_id, run_id, page, stats)
  SELECT org, run_ids[s.run], s.page,
         p.stats[1:s.slot * 10] || s.stats || p.stats[s.slot * 10 + cardinality(s.stats) + 1:320]
  FROM unnest(page_changes) s
  LEFT JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                     WHERE o.org_id = org AND o.run_id = run_ids[s.run] AND o.page = s.page
                       AND (s.slot > 0 OR cardinality(s.stats) < 320) OFFSET 0) p ON true
  ON CONFLICT (org_id, run_id, page) DO UPDATE SET stats = excluded.stats;

  IF cardinality(sort_runs) > 0 THEN
    INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
    SELECT org, run_ids[s.run], s.key, s.id, s.minimise, nullif(s.best, 'NaN'), nullif(s.latest, 'NaN'),
           CASE WHEN s.is_new THEN (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run_ids[s.run]) END
    FROM unnest(sort_runs, sort_names, sort_ids, sort_minimise, sort_new, sort_bests, sort_latests)
         AS s (run, key, id, minimise, is_new, best, latest)
    ON CONFLICT (org_id, run_id, key) DO UPDATE SET
      sort_best = coalesce(excluded.sort_best, k.sort_best),
      sort_latest = coalesce(excluded.sort_latest, k.sort_latest),
      sort_created_at = coalesce(k.sort_created_at, (SELECT r.created_at FROM runs.run_refs_v1 r
                                                     WHERE r.org_id = k.org_id AND r.id = k.run_id))
    WHERE k.sort_best IS DISTINCT FROM coalesce(excluded.sort_best, k.sort_best)
      OR k.sort_latest IS DISTINCT FROM coalesce(excluded.sort_latest, k.sort_latest);
  END IF;

  -- Last, because another group may wait for one of these rows until this one is committed.
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
  SELECT org, a.project_id, points_slot, a.points, a.series, this_month, a.points
  FROM unnest(project_ids, project_values, project_series) AS a (project_id, points, series)
  ON CONFLICT (org_id, project_id, slot) DO UPDATE
  SET points = p.points + excluded.points, series = p.series + excluded.series,
      month_points = CASE WHEN p.month >= excluded.month THEN p.month_points ELSE 0 END + excluded.month_points,
      month = greatest(p.month, excluded.month);
  outcome := 'applied';
  noted_minute := minute;
END
$$;
REVOKE ALL ON FUNCTION ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metric_group TO tidemark_ingest;
COMMENT ON FUNCTION ingest.append_metric_group IS
  'Stores a group of requests of one organization, all of them or none, with the changes of key aggregates that '
  'they make. Every array whose name ends in runs holds indexes into run_ids, from 1. run_ids are distinct and '
  'ascending; versions are those that the caller knows, 0 for a run without metrics; next_versions, key_counts '
  'and point_counts are those after the writes; noted_minutes: the noted_minute of the last group that the caller '
  'knows of each run, 0 without one: the run has a row of this minute in unindexed_runs since. Each request has '
  'an element in write_runs, seqs (the next versions of the run, one by one), first_steps, last_steps, blocks, '
  'and marker_seconds (negative: no dirty marker). keys, bodies and replies are the idempotency records of the '
  'requests that have them, keys distinct. new_key_runs and what follows: keys that the runs did not have; '
  'page_changes: changes of aggregate pages; project_ids, distinct and ascending, project_values and '
  'project_series: how many values the projects of the runs get, and how many keys their runs get that they did '
  'not have, counted in points_slot, 0 to 15, which the caller uses for one group at a time. sort_keys_version: '
  'of the sort keys that the caller knows; sort_runs and what follows: those of the keys that are sort keys whose '
  'values to sort by change, NaN for one that does not or that is no sort key, and those of them that the runs '
  'did not have, which are not among new_keys. Outcomes: applied; keys: the keys at indexes cannot be used, as '
  'claim_keys says; stale: the runs at indexes have other versions; sort_keys: the sort keys have another '
  'version. Nothing is written in the last three cases. Look-ups are laterals behind OFFSET 0, and changes go '
  'through ON CONFLICT: a plan that was made while a table was small must not read it whole when it has grown. '
  'One plan is right for all values: planning at each call would cost more than everything else. Locks are taken '
  'in this order by all: idempotency keys, runs ascending, their rows in unindexed_runs, counters ascending.';

CREATE OR REPLACE FUNCTION ingest.append_rank_metrics(org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea, at_step double precision, at_rank smallint, at_local_rank smallint,
  rank_weight double precision, client_us bigint, value_count integer, sets integer[], first_slots smallint[],
  pages boolean[], packed_values bytea[], marker_sets integer[], marker_seconds double precision[], OUT outcome text,
  OUT inserted integer, OUT run_project uuid)
RETURNS record
LANGUAGE plpgsql
AS $$
DECLARE
  before record;
  now_us bigint;
  stored bigint;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT run_known THEN
    run_project := ingest.visible_project(org, run, only_project);
    IF run_project IS NULL THEN
      outcome := 'not_found';
      RETURN;
    END IF;
  END IF;

  IF idempotency_key IS NOT NULL THEN
    SELECT c.same_body, c.reply INTO before FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      IF before.same_body THEN
        outcome := 'replayed';
        inserted := ('x' || encode(before.reply, 'hex'))::bit(32)::integer;
      ELSE
        outcome := 'reused';
      END IF;
      RETURN;
    END IF;
  END IF;

  -- The clock and not now(): this may have waited for its key.
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  INSERT INTO ingest.rank_metric_rows AS r
    (org_id, run_id, set_id, step, rank, arrival, received_us, sent_us, weight, local_rank, first_slot, packed)
  SELECT org, run, v.set_id, at_step, at_rank, CASE WHEN v.is_page THEN 1 + (now_us & 2147483646)::integer ELSE 0 END,
         now_us, client_us, rank_weight, at_local_rank, v.first_slot, v.packed
  FROM unnest(sets, first_slots, pages, packed_values) AS v (set_id, first_slot, is_page, packed)
  ON CONFLICT (org_id, run_id, set_id, step, rank, arrival) DO UPDATE
  SET received_us = excluded.received_us, sent_us = excluded.sent_us, weight = excluded.weight,
      local_rank = excluded.local_rank, packed = excluded.packed
  WHERE r.arrival = 0;
  GET DIAGNOSTICS stored = ROW_COUNT;
  IF stored < cardinality(sets) THEN
    RAISE unique_violation USING MESSAGE = 'two requests of one rank, step and moment';
  END IF;

  INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
  SELECT org, 'ranks', run, m.set_id::text, now_us, now() + make_interval(secs => m.seconds)
  FROM unnest(marker_sets, marker_seconds) AS m (set_id, seconds)
  ON CONFLICT DO NOTHING;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(value_count));
  END IF;
  PERFORM ingest.count_rank_values(org, value_count);
  outcome := 'inserted';
  inserted := value_count;
END
$$;

GRANT USAGE ON SCHEMA ingest TO tidemark_usage;
GRANT SELECT ON ingest.project_points, ingest.rank_points TO tidemark_usage;
CREATE VIEW ingest.usage_v1 WITH (security_invoker = true) AS
  SELECT c.org_id,
         coalesce(sum(c.month_points) FILTER (WHERE c.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint
           AS month_points,
         sum(c.points)::bigint AS points, sum(c.series)::bigint AS series
  FROM (SELECT p.org_id, p.month, p.month_points, p.points, p.series FROM ingest.project_points p
        UNION ALL
        SELECT r.org_id, r.month, r.month_points, r.points, 0 FROM ingest.rank_points r) c
  GROUP BY c.org_id;
COMMENT ON VIEW ingest.usage_v1 IS
  'What an organization has written: values of this month in UTC and of all times, those of ranks included, and series, which are pairs of run '
  'and metric key. An organization without values has no row.';
GRANT SELECT ON ingest.usage_v1 TO tidemark_usage;
