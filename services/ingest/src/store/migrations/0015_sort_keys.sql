-- Sort keys: the few metric keys that lists of an organization are sorted by. Writes keep their values to sort by exact,
-- of all runs and at every moment, so that a list need not look at each run that is being written.

CREATE TABLE ingest.sort_key_versions (
  org_id uuid NOT NULL PRIMARY KEY,
  version bigint NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE ingest.sort_key_versions IS
  'rises with each change of what sort keys an organization has; locked by whoever changes that. No row: 0, none ever';

CREATE TABLE ingest.sort_keys (
  org_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  by text COLLATE "C" NOT NULL,
  asked_at timestamptz NOT NULL,
  ready boolean NOT NULL DEFAULT false,
  boundary xid8,
  filled_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  claimed_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (org_id, key, by),
  CHECK (by IN ('best', 'latest'))
) WITH (fillfactor = 50);
COMMENT ON COLUMN ingest.sort_keys.by IS 'which value of the key: best, or latest';
COMMENT ON COLUMN ingest.sort_keys.asked_at IS 'when a list was last sorted by it; at most an hour older than that';
COMMENT ON COLUMN ingest.sort_keys.ready IS 'all runs with the key have the value; until then, those written since it was asked for';
COMMENT ON COLUMN ingest.sort_keys.boundary IS
  'transactions with lower numbers may have written runs without knowing of it; those from it on know it';
COMMENT ON COLUMN ingest.sort_keys.filled_to IS 'the runs that are not indexed have the value up to this one';
COMMENT ON COLUMN ingest.sort_keys.claimed_until IS 'until when the process that makes it ready may take';
CREATE INDEX sort_keys_not_ready ON ingest.sort_keys (asked_at) WHERE NOT ready;

SELECT platform.fence('ingest.sort_key_versions'), platform.fence('ingest.sort_keys');
SELECT platform.unfence_for(t, 'tidemark_ingest_worker')
FROM unnest(ARRAY['ingest.sort_key_versions', 'ingest.sort_keys']::regclass[]) t;
GRANT SELECT ON ingest.sort_key_versions TO tidemark_ingest;
GRANT SELECT, UPDATE ON ingest.sort_keys TO tidemark_ingest;
GRANT SELECT, UPDATE ON ingest.sort_key_versions TO tidemark_ingest_worker;
GRANT SELECT, UPDATE, DELETE ON ingest.sort_keys TO tidemark_ingest_worker;
GRANT SELECT (org_id, key, by, ready) ON ingest.sort_keys TO tidemark_runs;
GRANT USAGE ON SCHEMA ingest TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE ON ingest.sort_key_versions TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ingest.sort_keys TO tidemark_definer;

-- Each change of a value to sort by leaves a dead row and dead index entries, which walks along the index would meet.
ALTER TABLE ingest.metric_keys SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000);

CREATE VIEW ingest.sort_keys_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, s.key, s.by FROM ingest.sort_keys s WHERE s.ready;
COMMENT ON VIEW ingest.sort_keys_v1 IS
  'The keys whose values to sort by are those of all runs in sort_values_v1, in the snapshot that sees this.';

CREATE VIEW ingest.sort_values_v1 WITH (security_invoker = true) AS
  SELECT k.org_id, k.run_id, k.key, k.sort_best, k.sort_latest, k.sort_created_at FROM ingest.metric_keys k;
COMMENT ON VIEW ingest.sort_values_v1 IS
  'The values to sort by as they are stored; more is better in sort_best. Those of a key in sort_keys_v1, by the column '
  'that it names, are exact and of all runs that have the key; others may be old or missing.';
GRANT SELECT ON ingest.sort_keys_v1, ingest.sort_values_v1 TO tidemark_runs;

CREATE FUNCTION ingest.unindexed_sort_values_v2(org uuid, of_key text)
RETURNS TABLE (run_id uuid, sort_best double precision, sort_latest double precision)
LANGUAGE sql STABLE AS $$
  SELECT u.run_id, CASE WHEN k.minimise THEN -p.stats[k.at + 4] ELSE p.stats[k.at + 6] END, p.stats[k.at + 8]
  FROM (SELECT o.run_id FROM ingest.unindexed_runs o WHERE o.org_id = org OFFSET 0) u
  CROSS JOIN LATERAL (SELECT o.key_id, o.minimise, (o.key_id & 31) * 10 AS at FROM ingest.metric_keys o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.key = of_key COLLATE "C" OFFSET 0) k
  CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = u.run_id AND o.page = k.key_id >> 5 OFFSET 0) p
$$;
REVOKE ALL ON FUNCTION ingest.unindexed_sort_values_v2 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.unindexed_sort_values_v2 TO tidemark_runs;
COMMENT ON FUNCTION ingest.unindexed_sort_values_v2 IS
  'Returns the values to sort by of the runs that are not indexed and have the key, from their key aggregates; more is '
  'better in sort_best. A plain query without settings, so that PostgreSQL inlines it; every step is a look-up behind '
  'OFFSET 0, so that there is no other plan.';

CREATE FUNCTION ingest.ask_sort_key_v1(org uuid, of_key text, of_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  keys_max constant integer := 16;
  asked timestamptz;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT s.asked_at INTO asked FROM ingest.sort_keys s
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  IF asked > now() - interval '1 hour' THEN
    RETURN;
  END IF;
  UPDATE ingest.sort_keys s SET asked_at = now()
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  -- The time of one that is asked for all the time is up to an hour old.
  IF FOUND OR keys_max <= (SELECT count(*) FROM ingest.sort_keys s
                           WHERE s.org_id = org AND s.asked_at > now() - interval '2 hours') THEN
    RETURN;
  END IF;

  INSERT INTO ingest.sort_key_versions (org_id, version) VALUES (org, 0) ON CONFLICT (org_id) DO NOTHING;
  PERFORM FROM ingest.sort_key_versions v WHERE v.org_id = org FOR UPDATE;
  -- Again, because another one may have been quicker.
  IF EXISTS (SELECT FROM ingest.sort_keys s
             WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C") THEN
    RETURN;
  END IF;
  IF keys_max <= (SELECT count(*) FROM ingest.sort_keys s WHERE s.org_id = org) THEN
    DELETE FROM ingest.sort_keys s
    USING (SELECT o.key, o.by FROM ingest.sort_keys o
           WHERE o.org_id = org AND o.asked_at <= now() - interval '2 hours' ORDER BY o.asked_at LIMIT 1) oldest
    WHERE s.org_id = org AND s.key = oldest.key AND s.by = oldest.by;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO ingest.sort_keys (org_id, key, by, asked_at) VALUES (org, of_key, of_by, now());
  UPDATE ingest.sort_key_versions v SET version = v.version + 1 WHERE v.org_id = org;
END
$$;
REVOKE ALL ON FUNCTION ingest.ask_sort_key_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.ask_sort_key_v1 TO tidemark_runs;
GRANT CREATE ON SCHEMA ingest TO tidemark_definer;
ALTER FUNCTION ingest.ask_sort_key_v1 OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA ingest FROM tidemark_definer;
COMMENT ON FUNCTION ingest.ask_sort_key_v1 IS
  'Notes that a list of the organization is sorted by a key, by its best or its latest value. A key that is new here '
  'becomes a sort key, and soon a ready one, unless there are 16 that were asked for within the hour; else it replaces '
  'the one that was not asked for longest. Writes nothing where it was called within the hour. Call it in a transaction '
  'of its own.';

CREATE FUNCTION ingest.fill_sort_key(org uuid, of_key text, of_by text, runs_max integer,
  lease_seconds double precision, OUT outcome text, OUT runs integer)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  sort_key record;
  run_ids uuid[];
BEGIN
  PERFORM platform.enter_org(org);
  runs := 0;
  SELECT s.ready, s.boundary, s.filled_to INTO sort_key FROM ingest.sort_keys s
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C" FOR UPDATE;
  IF NOT FOUND OR sort_key.ready THEN
    outcome := 'ended';
    RETURN;
  END IF;
  IF sort_key.boundary IS NULL OR pg_snapshot_xmin(pg_current_snapshot()) < sort_key.boundary THEN
    outcome := 'waiting';
    RETURN;
  END IF;

  run_ids := ARRAY(SELECT u.run_id FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id > sort_key.filled_to
                   ORDER BY u.run_id LIMIT runs_max);
  IF run_ids = '{}' THEN
    UPDATE ingest.sort_keys s SET ready = true
    WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
    outcome := 'ready';
    RETURN;
  END IF;
  -- Writes of these runs wait. What is read next is as the last write left it.
  PERFORM FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT FROM ingest.metric_runs o WHERE o.org_id = org AND o.run_id = r.id OFFSET 0 FOR UPDATE) m;
  INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
  SELECT org, r.id, of_key, m.key_id, m.minimise,
         CASE WHEN of_by = 'best' THEN v.best ELSE m.sort_best END,
         CASE WHEN of_by = 'latest' THEN v.latest ELSE m.sort_latest END,
         coalesce(m.sort_created_at, (SELECT c.created_at FROM runs.run_refs_v1 c WHERE c.org_id = org AND c.id = r.id))
  FROM unnest(run_ids) AS r (id)
  CROSS JOIN LATERAL (SELECT o.key_id, o.minimise, o.sort_best, o.sort_latest, o.sort_created_at
                      FROM ingest.metric_keys o
                      WHERE o.org_id = org AND o.run_id = r.id AND o.key = of_key COLLATE "C" OFFSET 0) m
  CROSS JOIN LATERAL (SELECT CASE WHEN m.minimise THEN -o.stats[(m.key_id & 31) * 10 + 4]
                                  ELSE o.stats[(m.key_id & 31) * 10 + 6] END AS best,
                             o.stats[(m.key_id & 31) * 10 + 8] AS latest
                      FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = r.id AND o.page = m.key_id >> 5 OFFSET 0) v
  WHERE CASE WHEN of_by = 'best' THEN m.sort_best IS DISTINCT FROM v.best ELSE m.sort_latest IS DISTINCT FROM v.latest END
  ON CONFLICT (org_id, run_id, key) DO UPDATE
  SET sort_best = excluded.sort_best, sort_latest = excluded.sort_latest, sort_created_at = excluded.sort_created_at;
  UPDATE ingest.sort_keys s
  SET filled_to = run_ids[cardinality(run_ids)], claimed_until = clock_timestamp() + make_interval(secs => lease_seconds)
  WHERE s.org_id = org AND s.key = of_key COLLATE "C" AND s.by = of_by COLLATE "C";
  outcome := 'filled';
  runs := cardinality(run_ids);
END
$$;
REVOKE ALL ON FUNCTION ingest.fill_sort_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.fill_sort_key TO tidemark_ingest;
COMMENT ON FUNCTION ingest.fill_sort_key IS
  'Does one step towards a sort key that is ready: gives the next runs that are not indexed, at most runs_max, their '
  'values. Outcomes: filled, of how many runs, and the claim lasts lease_seconds more; ready: there were no more; '
  'waiting: a write that does not know of the sort key may be on its way; ended: it is ready or gone. Runs that are '
  'indexed have their values already.';

DROP FUNCTION ingest.index_sort_values;
CREATE FUNCTION ingest.index_sort_values(org uuid, run uuid, after_key text, keys_max integer) RETURNS text
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  created timestamptz;
  last_key text;
BEGIN
  -- Without the lock, a value that a write keeps exact meanwhile could be replaced by the one before.
  PERFORM FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = run FOR UPDATE;
  created := (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run);
  SELECT max(n.key) INTO last_key FROM (
    SELECT k.key FROM ingest.metric_keys k
    WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max
  ) n;
  INSERT INTO ingest.metric_keys AS k (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
  SELECT org, run, n.key, n.key_id, n.minimise, v.best, v.latest, created
  FROM (SELECT m.* FROM ingest.metric_keys m
        WHERE m.org_id = org AND m.run_id = run AND m.key > after_key COLLATE "C" AND m.key <= last_key COLLATE "C"
        OFFSET 0) n
  CROSS JOIN LATERAL (SELECT CASE WHEN n.minimise THEN -o.stats[(n.key_id & 31) * 10 + 4]
                                  ELSE o.stats[(n.key_id & 31) * 10 + 6] END AS best,
                             o.stats[(n.key_id & 31) * 10 + 8] AS latest
                      FROM ingest.metric_aggregate_pages o
                      WHERE o.org_id = org AND o.run_id = run AND o.page = n.key_id >> 5 OFFSET 0) v
  WHERE n.sort_best IS DISTINCT FROM v.best OR n.sort_latest IS DISTINCT FROM v.latest
  ON CONFLICT (org_id, run_id, key) DO UPDATE
  SET sort_best = excluded.sort_best, sort_latest = excluded.sort_latest, sort_created_at = excluded.sort_created_at;
  RETURN last_key;
END
$$;
REVOKE ALL ON FUNCTION ingest.index_sort_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.index_sort_values TO tidemark_ingest;
COMMENT ON FUNCTION ingest.index_sort_values IS
  'Copies the values to sort by of the next keys of a run behind after_key, at most keys_max. Returns the last of these '
  'keys, null when there are none. A write of the run waits until the transaction ends.';

-- A call that is on its way without a number yet must not go on without knowing of sort keys: its last statement fails,
-- because the type of its argument is another one by then.
DROP FUNCTION ingest.append_metric_group;
DROP TYPE ingest.aggregate_page_change;
CREATE TYPE ingest.aggregate_page_change AS (run integer, page integer, slot integer, stats double precision[]);
CREATE FUNCTION ingest.append_metric_group(org uuid, run_ids uuid[], versions bigint[], next_versions bigint[],
  key_counts integer[], point_counts bigint[], noted_minutes integer[], write_runs integer[], seqs bigint[],
  first_steps double precision[], last_steps double precision[], blocks bytea[], marker_seconds double precision[],
  keys bytea[], bodies bytea[], replies bytea[], new_key_runs integer[], new_keys text[], new_key_ids integer[],
  new_minimise boolean[], page_changes ingest.aggregate_page_change[], project_ids uuid[], project_values bigint[],
  points_slot smallint, sort_keys_version bigint, sort_runs integer[], sort_names text[], sort_ids integer[],
  sort_minimise boolean[], sort_new boolean[], sort_bests double precision[], sort_latests double precision[],
  OUT outcome text, OUT indexes integer[], OUT same_bodies boolean[], OUT old_replies bytea[], OUT noted_minute integer)
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
  INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points)
  SELECT org, a.project_id, points_slot, a.points FROM unnest(project_ids, project_values) AS a (project_id, points)
  ON CONFLICT (org_id, project_id, slot) DO UPDATE SET points = p.points + excluded.points;
  outcome := 'applied';
  noted_minute := minute;
END
$$;
REVOKE ALL ON FUNCTION ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metric_group TO tidemark_ingest;
COMMENT ON FUNCTION ingest.append_metric_group IS
  'Stores a group of requests of one organization, all of them or none, with the changes of key aggregates that they '
  'make. Every array whose name ends in runs holds indexes into run_ids, from 1. run_ids are distinct and ascending; '
  'versions are those that the caller knows, 0 for a run without metrics; next_versions, key_counts and point_counts '
  'are those after the writes; noted_minutes: the noted_minute of the last group that the caller knows of each run, 0 '
  'without one: the run has a row of this minute in unindexed_runs since. Each request has an element in write_runs, '
  'seqs (the next versions of the run, one by one), first_steps, last_steps, blocks, and marker_seconds (negative: no '
  'dirty marker). keys, bodies and replies are the idempotency records of the requests that have them, keys distinct. '
  'new_key_runs and what follows: keys that the runs did not have; page_changes: changes of aggregate pages; '
  'project_ids, distinct and ascending, and project_values: how many values the projects of the runs get, counted in '
  'points_slot, 0 to 15, which the caller uses for one group at a time. sort_keys_version: of the sort keys that the '
  'caller knows; sort_runs and what follows: those of the keys that are sort keys whose values to sort by change, NaN '
  'for one that does not or that is no sort key, and those of them that the runs did not have, which are not among '
  'new_keys. Outcomes: applied; keys: the keys at indexes cannot be used, as claim_keys says; stale: the runs at '
  'indexes have other versions; sort_keys: the sort keys have another version. Nothing is written in the last three '
  'cases. Look-ups are laterals behind OFFSET 0, and changes go through ON CONFLICT: a plan that was made while a '
  'table was small must not read it whole when it has grown. One plan is right for all values: planning at each call '
  'would cost more than everything else. Locks are taken in this order by all: idempotency keys, runs ascending, '
  'their rows in unindexed_runs, counters ascending.';
