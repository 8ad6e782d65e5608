-- Points are counted by the writes themselves and no longer when a run is indexed: the total of a project is right at
-- every moment, and a reader of totals need not look at the runs that are being written.

-- The copies of the counts that runs had when they were indexed.
DROP VIEW ingest.indexed_points_v1, ingest.unindexed_points_v1, ingest.project_points_v1;
DROP TABLE ingest.run_points, ingest.project_points;

-- Sixteen counters for each project, so that writes of one project rarely wait for each other. Most of a page stays free
-- and no index covers the counter, so that an update needs no new index entry.
CREATE TABLE ingest.project_points (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  slot smallint NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (org_id, project_id, slot),
  CHECK (slot BETWEEN 0 AND 15)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE ingest.project_points IS
  'how many values were ever stored for the runs of a project: the sum over the slots';
COMMENT ON COLUMN ingest.project_points.slot IS 'each group of writes takes the next one of its process';

-- Writes end before this begins. A call that arrives meanwhile waits, and then it must not go on as before, without
-- counting: its last statement fails, because the type of its argument is another one by then.
ALTER TABLE ingest.metric_runs NO FORCE ROW LEVEL SECURITY;
DROP FUNCTION ingest.append_metric_group, ingest.finish_indexing;
DROP TYPE ingest.aggregate_page_change;
CREATE TYPE ingest.aggregate_page_change AS (run integer, page integer, slot integer, stats double precision[]);

-- Organization by organization, because the runs are fenced from their owner. In a new database there are no runs.
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
      INSERT INTO ingest.project_points (org_id, project_id, slot, points)
      SELECT $1, r.project_id, 0, sum(m.point_count)
      FROM ingest.metric_runs m JOIN runs.run_refs_v1 r ON r.org_id = m.org_id AND r.id = m.run_id
      WHERE m.org_id = $1 GROUP BY r.project_id' USING org;
  END LOOP;
END
$$;
ALTER TABLE ingest.metric_runs FORCE ROW LEVEL SECURITY;
SELECT platform.fence('ingest.project_points');
GRANT SELECT, INSERT, UPDATE ON ingest.project_points TO tidemark_ingest;
GRANT SELECT ON ingest.project_points TO tidemark_runs;

CREATE VIEW ingest.project_points_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, p.project_id, sum(p.points)::bigint AS points
  FROM ingest.project_points p GROUP BY p.org_id, p.project_id;
COMMENT ON VIEW ingest.project_points_v1 IS
  'How many values the runs of a project have, at this moment. A project without values has no row.';

CREATE VIEW ingest.run_points_v1 WITH (security_invoker = true) AS
  SELECT m.org_id, m.run_id, m.point_count AS points FROM ingest.metric_runs m;
COMMENT ON VIEW ingest.run_points_v1 IS
  'How many values runs have, at this moment. A run without metrics has no row.';
GRANT SELECT ON ingest.project_points_v1, ingest.run_points_v1 TO tidemark_runs;

CREATE FUNCTION ingest.finish_indexing(org uuid, run uuid, touched integer) RETURNS boolean
  LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id = run AND u.touched_minute = touched;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION ingest.finish_indexing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.finish_indexing TO tidemark_ingest;
COMMENT ON FUNCTION ingest.finish_indexing IS
  'Ends the indexing of a run. Returns false, and does nothing, when the run was written since the minute touched.';

CREATE FUNCTION ingest.append_metric_group(org uuid, run_ids uuid[], versions bigint[], next_versions bigint[],
  key_counts integer[], point_counts bigint[], noted boolean[], write_runs integer[], seqs bigint[],
  first_steps double precision[], last_steps double precision[], blocks bytea[], marker_seconds double precision[],
  keys bytea[], bodies bytea[], replies bytea[], new_key_runs integer[], new_keys text[], new_key_ids integer[],
  new_minimise boolean[], page_changes ingest.aggregate_page_change[], project_ids uuid[], project_values bigint[],
  points_slot smallint, OUT outcome text, OUT indexes integer[], OUT same_bodies boolean[], OUT old_replies bytea[])
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $$
DECLARE
  minute constant integer := floor(extract(epoch FROM now()) / 60)::integer;
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
  IF false = ANY (noted) THEN
    INSERT INTO ingest.unindexed_runs AS u (org_id, run_id, touched_minute)
    SELECT org, r.id, minute FROM unnest(run_ids, noted) AS r (id, noted)
    WHERE NOT r.noted AND NOT EXISTS (SELECT FROM ingest.unindexed_runs o
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

  -- Last, because another group may wait for one of these rows until this one is committed.
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points)
  SELECT org, a.project_id, points_slot, a.points FROM unnest(project_ids, project_values) AS a (project_id, points)
  ON CONFLICT (org_id, project_id, slot) DO UPDATE SET points = p.points + excluded.points;
  outcome := 'applied';
END
$$;
REVOKE ALL ON FUNCTION ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metric_group TO tidemark_ingest;
COMMENT ON FUNCTION ingest.append_metric_group IS
  'Stores a group of requests of one organization, all of them or none, with the changes of key aggregates that they '
  'make. Every array whose name ends in runs holds indexes into run_ids, from 1. run_ids are distinct and ascending; '
  'versions are those that the caller knows, 0 for a run without metrics; next_versions, key_counts and point_counts '
  'are those after the writes; noted: the caller knows that the run has a recent row in unindexed_runs. Each request '
  'has an element in write_runs, seqs (the next versions of the run, one by one), first_steps, last_steps, blocks, and '
  'marker_seconds (negative: no dirty marker). keys, bodies and replies are the idempotency records of the requests '
  'that have them, keys distinct. new_key_runs and what follows: keys that the runs did not have; page_changes: changes '
  'of aggregate pages; project_ids, distinct and ascending, and project_values: how many values the projects of the '
  'runs get, counted in points_slot, 0 to 15, which the caller uses for one group at a time. Outcomes: applied; keys: '
  'the keys at indexes cannot be used, as claim_keys says; stale: the runs at indexes have other versions. Nothing is '
  'written in the last two cases. Look-ups are laterals behind OFFSET 0, and changes go through ON CONFLICT: a plan '
  'that was made while a table was small must not read it whole when it has grown. One plan is right for all values: '
  'planning at each call would cost more than everything else. Locks are taken in this order by all: idempotency keys, '
  'runs ascending, their rows in unindexed_runs, counters ascending.';
