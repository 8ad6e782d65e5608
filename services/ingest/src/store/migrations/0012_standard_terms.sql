-- The database speaks the terms of the field, as the code does: landing segment, key aggregate, aggregate page, chunk
-- statistics, key range, dirty marker, sort values. Tables, views and columns keep their rows; functions whose text names
-- them are made again. Every function and view says what it promises.

ALTER TABLE ingest.metric_landing RENAME TO metric_segments;
ALTER TABLE ingest.log_landing RENAME TO log_segments;
ALTER TABLE ingest.metric_head_pages RENAME TO metric_aggregate_pages;
ALTER TABLE ingest.compaction_marks RENAME TO dirty_markers;
ALTER TABLE ingest.unsettled_runs RENAME TO unindexed_runs;
ALTER TABLE ingest.metric_keys RENAME COLUMN rank_best TO sort_best;
ALTER TABLE ingest.metric_keys RENAME COLUMN rank_latest TO sort_latest;
ALTER TABLE ingest.metric_keys RENAME COLUMN rank_created_at TO sort_created_at;
ALTER TABLE ingest.metric_blocks RENAME COLUMN heads TO statistics;

ALTER VIEW ingest.metric_heads_v1 RENAME TO metric_aggregates_v1;
ALTER VIEW ingest.metric_ranks_v1 RENAME TO metric_sort_values_v1;
ALTER VIEW ingest.metric_sort_values_v1 RENAME COLUMN rank_best TO sort_best;
ALTER VIEW ingest.metric_sort_values_v1 RENAME COLUMN rank_latest TO sort_latest;
ALTER VIEW ingest.metric_sort_values_v1 RENAME COLUMN rank_created_at TO sort_created_at;
ALTER VIEW ingest.unsettled_ranks_v1 RENAME TO unindexed_sort_values_v1;
ALTER VIEW ingest.unindexed_sort_values_v1 RENAME COLUMN rank_best TO sort_best;
ALTER VIEW ingest.unindexed_sort_values_v1 RENAME COLUMN rank_latest TO sort_latest;
ALTER VIEW ingest.settled_points_v1 RENAME TO indexed_points_v1;
ALTER VIEW ingest.unsettled_points_v1 RENAME TO unindexed_points_v1;
ALTER TYPE ingest.metric_head_stretch RENAME TO aggregate_page_change;

ALTER INDEX ingest.metric_landing_pkey RENAME TO metric_segments_pkey;
ALTER INDEX ingest.log_landing_pkey RENAME TO log_segments_pkey;
ALTER TABLE ingest.log_segments RENAME CONSTRAINT log_landing_stream_check TO log_segments_stream_check;
ALTER INDEX ingest.metric_head_pages_pkey RENAME TO metric_aggregate_pages_pkey;
ALTER INDEX ingest.compaction_marks_pkey RENAME TO dirty_markers_pkey;
ALTER INDEX ingest.unsettled_runs_pkey RENAME TO unindexed_runs_pkey;


COMMENT ON COLUMN ingest.dirty_markers.id IS
  'tells markers of one part apart: of rank metrics the time at which it was made, else the segment that came with it';
COMMENT ON COLUMN ingest.compaction_work.due_at IS
  'when to look; of claimed work, when the claim expires unless a marker says earlier';
COMMENT ON COLUMN ingest.compaction_work.marked_at IS 'when its latest dirty marker was taken';
COMMENT ON COLUMN ingest.metric_blocks.first_seq IS
  'id of the first segment whose points are in the block; for any one key no two blocks overlap';
COMMENT ON COLUMN ingest.metric_blocks.last_seq IS
  'id of the last such segment; all segments with values of these keys have greater ones';
COMMENT ON COLUMN ingest.metric_blocks.statistics IS
  'of ranges of 16 keys, 72 bytes for each key: count, first and last point, lowest and highest value';
COMMENT ON COLUMN ingest.metric_keys.sort_best IS
  'the best value when the run was last indexed, negative where less is better: more is better here';
COMMENT ON COLUMN ingest.metric_keys.sort_latest IS 'the latest value when the run was last indexed';
COMMENT ON COLUMN ingest.metric_segments.points IS 'a segment of the metric codec';
COMMENT ON COLUMN ingest.metric_runs.version IS 'id of the newest segment that was ever written';
COMMENT ON TABLE ingest.rank_metric_blocks IS
  'rows of a set, compacted: each column but the values has an entry per row in the order of step and rank, as the send functions write them. Blocks overlap only where rows came late';


DROP FUNCTION
  ingest.append_log_lines,
  ingest.append_metric_group,
  ingest.append_rank_metrics,
  ingest.chunk_values,
  ingest.compact_rank_rows,
  ingest.crowded_metric_stripes,
  ingest.fold_rank_rows,
  ingest.log_blocks_before,
  ingest.log_segments_after,
  ingest.log_segments_at_end,
  ingest.metric_chunks,
  ingest.metric_points_page,
  ingest.metric_reach,
  ingest.metric_run_states,
  ingest.metric_series_page,
  ingest.metric_versions,
  ingest.newest_attributes_v1,
  ingest.place_rank_keys,
  ingest.rank_values,
  ingest.release_compaction,
  ingest.replace_log_blocks,
  ingest.replace_metric_blocks,
  ingest.settle_heads,
  ingest.settle_run,
  ingest.waiting_log_rows,
  ingest.waiting_metric_rows;

CREATE FUNCTION ingest.append_log_lines(org uuid, run uuid, run_known boolean, only_project uuid, idempotency_key bytea,
  idempotency_body bytea, of_stream text, segment_id bigint, lowest_line bigint, highest_line bigint,
  line_count integer, text_bytes integer, line_block bytea, marker_seconds double precision, OUT outcome text,
  OUT inserted integer, OUT run_project uuid)
RETURNS record
LANGUAGE plpgsql
AS $$
DECLARE
  before record;
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

  INSERT INTO ingest.log_segments
    (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
  VALUES (org, run, of_stream, segment_id, (extract(epoch FROM now()) * 1000000)::bigint,
          lowest_line, highest_line, line_count, text_bytes, line_block);
  IF marker_seconds IS NOT NULL THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    VALUES (org, 'logs', run, of_stream, segment_id, now() + make_interval(secs => marker_seconds));
  END IF;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(line_count));
  END IF;
  outcome := 'inserted';
  inserted := line_count;
END
$$;
REVOKE ALL ON FUNCTION ingest.append_log_lines FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_log_lines TO tidemark_ingest;

CREATE FUNCTION ingest.append_metric_group(org uuid, run_ids uuid[], versions bigint[], next_versions bigint[],
  key_counts integer[], point_counts bigint[], noted boolean[], write_runs integer[], seqs bigint[],
  first_steps double precision[], last_steps double precision[], blocks bytea[], marker_seconds double precision[],
  keys bytea[], bodies bytea[], replies bytea[], new_key_runs integer[], new_keys text[], new_key_ids integer[],
  new_minimise boolean[], page_changes ingest.aggregate_page_change[], OUT outcome text, OUT indexes integer[],
  OUT same_bodies boolean[], OUT old_replies bytea[])
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
  outcome := 'applied';
END
$$;
REVOKE ALL ON FUNCTION ingest.append_metric_group FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metric_group TO tidemark_ingest;

CREATE FUNCTION ingest.append_rank_metrics(org uuid, run uuid, run_known boolean, only_project uuid,
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
  outcome := 'inserted';
  inserted := value_count;
END
$$;
REVOKE ALL ON FUNCTION ingest.append_rank_metrics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_rank_metrics TO tidemark_ingest;

CREATE FUNCTION ingest.chunk_values(statistics bytea, slot integer)
RETURNS integer
LANGUAGE sql
IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((statistics IS NULL) OR (octet_length(statistics) < (72 * (slot + 1))) OR (get_byte(statistics, ((72 * slot) + 7)) = 0)) THEN 0 ELSE ((((4096 + ((get_byte(statistics, ((72 * slot) + 6)) & 15) << 8)) + get_byte(statistics, ((72 * slot) + 5))) << LEAST((((get_byte(statistics, ((72 * slot) + 7)) << 4) + (get_byte(statistics, ((72 * slot) + 6)) >> 4)) - 1023), 18)) >> 12) END;
REVOKE ALL ON FUNCTION ingest.chunk_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_values TO tidemark_ingest;

CREATE FUNCTION ingest.compact_rank_rows(org uuid, run uuid, of_set integer, held_fence uuid,
  lease_seconds double precision, rest_seconds double precision, entries_min integer, entries_max integer,
  overlaps_max integer)
RETURNS integer
LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'ranks' AND w.run_id = run AND w.part = of_set::text AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN -1;
  END IF;
  RETURN ingest.move_rank_rows_to_block(org, run, of_set, rest_seconds, entries_min, entries_max, overlaps_max);
END
$$;
REVOKE ALL ON FUNCTION ingest.compact_rank_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.compact_rank_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.crowded_key_ranges(org uuid, run uuid, sealed_points integer, after_key integer,
  after_width integer, ranges_max integer)
RETURNS TABLE(first_key integer, width integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.first_key, b.width FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.points < sealed_points
      AND b.first_key >= after_key AND (b.first_key, b.width) > (after_key, after_width)
    GROUP BY b.first_key, b.width HAVING count(*) > 1
    ORDER BY b.first_key, b.width LIMIT ranges_max;
END
$$;
REVOKE ALL ON FUNCTION ingest.crowded_key_ranges FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.crowded_key_ranges TO tidemark_ingest_worker;

CREATE FUNCTION ingest.move_rank_rows_to_block(org uuid, run uuid, of_set integer, rest_seconds double precision,
  entries_min integer, entries_max integer, overlaps_max integer)
RETURNS integer
LANGUAGE plpgsql
SET enable_seqscan TO 'off'
AS $$
DECLARE
  until_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000 - rest_seconds * 1000000)::bigint;
  behind double precision;
  resting bigint;
  low_step double precision;
  top_step double precision;
  moved integer;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('rank ' || run::text || org::text, of_set)) THEN
    RETURN 0;
  END IF;
  SELECT coalesce(max(b.last_step), -1) INTO behind FROM ingest.rank_metric_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.set_id = of_set;
  SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
    SELECT r.step FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step > behind
      AND r.received_us < until_us AND r.arrival = 0
    ORDER BY r.step, r.rank LIMIT entries_max
  ) r;
  IF resting < entries_min THEN
    SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
      SELECT r.step FROM ingest.rank_metric_rows r
      WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step <= behind
        AND r.received_us < until_us AND r.arrival = 0
      ORDER BY r.step, r.rank LIMIT entries_max
    ) r;
    IF resting < entries_min OR overlaps_max <= (
      SELECT count(*) FROM ingest.rank_metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.set_id = of_set
        AND b.last_step >= low_step AND b.first_step <= top_step
    ) THEN
      RETURN 0;
    END IF;
  END IF;

  WITH gone AS MATERIALIZED (
    DELETE FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = of_set AND r.step BETWEEN low_step AND top_step
      AND r.received_us < until_us AND r.arrival = 0
    RETURNING r.*
  ), sorted AS MATERIALIZED (
    SELECT g.* FROM gone g ORDER BY g.step, g.rank
  ), slots AS (
    -- Slot by slot, so that what is to be sorted is sorted already.
    SELECT n.slot, c.slot_values
    FROM generate_series(0, (SELECT max(octet_length(g.packed)) / 8 - 1 FROM gone g)) AS n (slot)
    CROSS JOIN LATERAL (
      SELECT string_agg(substring(r.packed FROM 8 * n.slot + 1 FOR 8), '' ORDER BY r.step, r.rank) AS slot_values FROM sorted r
    ) c
  )
  INSERT INTO ingest.rank_metric_blocks
    (org_id, run_id, set_id, block_id, first_step, last_step, entries, step_count, step_list,
     steps, ranks, local_ranks, weights, received_us, sent_us, set_values)
  SELECT org, run, of_set, gen_random_uuid(), min(r.step), max(r.step), count(*), count(DISTINCT r.step),
         array_agg(DISTINCT r.step ORDER BY r.step),
         string_agg(float8send(r.step), '' ORDER BY r.step, r.rank),
         string_agg(int2send(r.rank), '' ORDER BY r.step, r.rank),
         string_agg(int2send(coalesce(r.local_rank, r.rank)), '' ORDER BY r.step, r.rank),
         string_agg(CASE WHEN r.weight IS NULL THEN '\x00'::bytea ELSE '\x01'::bytea || float8send(r.weight) END, ''
                    ORDER BY r.step, r.rank),
         string_agg(int8send(r.received_us), '' ORDER BY r.step, r.rank),
         string_agg(int8send(coalesce(r.sent_us, -9223372036854775808)), '' ORDER BY r.step, r.rank),
         (SELECT string_agg(s.slot_values, '' ORDER BY s.slot) FROM slots s)
  FROM sorted r
  HAVING count(*) > 0
  RETURNING entries INTO moved;
  RETURN coalesce(moved, 0);
END
$$;
REVOKE ALL ON FUNCTION ingest.move_rank_rows_to_block FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.move_rank_rows_to_block TO tidemark_ingest_worker;

CREATE FUNCTION ingest.log_blocks_before(org uuid, run uuid, of_stream text, before_lines double precision[],
  before_ids double precision[], blocks_max integer)
RETURNS TABLE(index integer, level smallint, first_line bigint, first_id bigint, last_line bigint, last_id bigint,
  lines integer, message_bytes integer)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  top smallint;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  RETURN QUERY
    SELECT p.n::integer - 1, b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes
    FROM unnest(before_lines, before_ids) WITH ORDINALITY AS p (line, id, n)
    CROSS JOIN generate_series(0, top) AS v(level)
    CROSS JOIN LATERAL (
      SELECT c.* FROM ingest.log_blocks c
      WHERE c.org_id = org AND c.run_id = run AND c.stream = of_stream AND c.level = v.level
        AND (c.first_line, c.first_id) <= (p.line::bigint, p.id::bigint)
      ORDER BY c.first_line DESC, c.first_id DESC LIMIT blocks_max
    ) b
    ORDER BY p.n, b.level, b.first_line DESC, b.first_id DESC;
END
$$;
REVOKE ALL ON FUNCTION ingest.log_blocks_before FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_blocks_before TO tidemark_ingest_worker;

CREATE FUNCTION ingest.log_parts_after(org uuid, run uuid, of_stream text, after_line bigint, after_id bigint,
  from_line bigint, from_id bigint, lines_max bigint, bytes_max bigint, blocks_max integer)
RETURNS TABLE(first_line bigint, first_id bigint, base_id bigint, base_us bigint, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  top smallint;
  start_line bigint := after_line;
  start_id bigint := after_id;
  lines bigint := 0;
  bytes bigint := 0;
  -- No line of the segments so far lies behind this.
  reach bigint := after_line;
  s record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  IF (from_line, from_id) > (after_line, after_id) THEN
    start_line := from_line;
    start_id := from_id;
  END IF;

  FOR s IN
    SELECT u.* FROM (
      -- Whether what follows the last one of these would come next is not known: `ends`.
      SELECT l.*, l.n > lines_max AS ends, NULL::bytea AS block FROM (
        SELECT l.first_line, l.id AS first_id, l.last_line, l.lines::bigint AS lines, l.received_us,
               row_number() OVER (ORDER BY l.first_line, l.id) AS n
        FROM ingest.log_segments l
        WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
          AND l.last_line >= after_line AND (l.first_line, l.id) > (from_line, from_id)
        ORDER BY l.first_line, l.id LIMIT lines_max + 1
      ) l
      UNION ALL
      SELECT b.first_line, b.first_id, b.last_line, b.lines, NULL, NULL, false, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.* FROM ingest.log_blocks b
        WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
          AND (b.first_line, b.first_id) <= (after_line, after_id)
        ORDER BY b.first_line DESC, b.first_id DESC LIMIT 1
      ) b
      WHERE (b.last_line, b.last_id) > (after_line, after_id) AND (b.first_line, b.first_id) > (from_line, from_id)
      UNION ALL
      SELECT b.first_line, b.first_id, b.last_line, b.lines, NULL, NULL, b.n > blocks_max, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.*, row_number() OVER (ORDER BY b.first_line, b.first_id) AS n FROM (
          SELECT b.* FROM ingest.log_blocks b
          WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
            AND (b.first_line, b.first_id) > (start_line, start_id)
          ORDER BY b.first_line, b.first_id LIMIT blocks_max + 1
        ) b
      ) b
    ) u
    ORDER BY u.first_line, u.first_id
  LOOP
    first_line := s.first_line;
    first_id := s.first_id;
    IF s.ends OR bytes >= bytes_max OR (lines >= lines_max AND first_line > reach) THEN
      base_id := NULL;
      base_us := NULL;
      block := NULL;
      RETURN NEXT;
      RETURN;
    END IF;
    IF s.block IS NULL THEN
      base_id := s.first_id;
      base_us := s.received_us;
      SELECT l.block INTO block FROM ingest.log_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = s.first_id;
    ELSE
      base_id := 0;
      base_us := 0;
      block := s.block;
    END IF;
    RETURN NEXT;
    bytes := bytes + octet_length(block);
    reach := greatest(reach, s.last_line);
    -- Of a segment that begins before the index, the share that lies behind it, by its numbers.
    lines := lines + CASE
      WHEN s.first_line > after_line THEN s.lines
      ELSE trunc(s.lines::numeric * (s.last_line - after_line) / (s.last_line - s.first_line + 1)) END;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.log_parts_after FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_parts_after TO tidemark_ingest;

CREATE FUNCTION ingest.log_parts_at_end(org uuid, run uuid, of_stream text, until_line bigint, until_id bigint,
  lines_max bigint, bytes_max bigint, blocks_max integer)
RETURNS TABLE(last_line bigint, last_id bigint, base_id bigint, base_us bigint, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  top smallint;
  lines bigint := 0;
  bytes bigint := 0;
  -- No line of the segments so far lies before this.
  reach bigint := until_line;
  s record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;

  FOR s IN
    SELECT u.* FROM (
      SELECT l.*, l.n > lines_max AS ends, NULL::bytea AS block FROM (
        -- Where in its last number a segment ends is not known: at most at the last id that it may have.
        SELECT l.last_line, l.id + 63 AS last_id, l.first_line, l.lines::bigint AS lines, l.id AS base_id, l.received_us,
               row_number() OVER (ORDER BY l.last_line DESC, l.id DESC) AS n
        FROM ingest.log_segments l
        WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
          AND (l.last_line, l.id + 63) < (until_line, until_id)
        ORDER BY l.last_line DESC, l.id DESC LIMIT lines_max + 1
      ) l
      UNION ALL
      SELECT b.last_line, b.last_id, b.first_line, b.lines, NULL, NULL, NULL, b.n > blocks_max, b.block
      FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
        SELECT b.*, row_number() OVER (ORDER BY b.first_line DESC, b.first_id DESC) AS n FROM (
          SELECT b.* FROM ingest.log_blocks b
          WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
            AND (b.first_line, b.first_id) < (until_line, until_id) AND (b.last_line, b.last_id) < (until_line, until_id)
          ORDER BY b.first_line DESC, b.first_id DESC LIMIT blocks_max + 1
        ) b
      ) b
    ) u
    ORDER BY u.last_line DESC, u.last_id DESC
  LOOP
    last_line := s.last_line;
    last_id := s.last_id;
    IF s.ends OR bytes >= bytes_max OR (lines >= lines_max AND last_line < reach) THEN
      base_id := NULL;
      base_us := NULL;
      block := NULL;
      RETURN NEXT;
      RETURN;
    END IF;
    IF s.block IS NULL THEN
      base_id := s.base_id;
      base_us := s.received_us;
      SELECT l.block INTO block FROM ingest.log_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = s.base_id;
    ELSE
      base_id := 0;
      base_us := 0;
      block := s.block;
    END IF;
    RETURN NEXT;
    bytes := bytes + octet_length(block);
    lines := lines + s.lines;
    reach := least(reach, s.first_line);
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.log_parts_at_end FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.log_parts_at_end TO tidemark_ingest;

CREATE FUNCTION ingest.metric_chunks(org uuid, run uuid, of_key integer, from_step double precision,
  to_step double precision, after_seq bigint, bytes_max bigint)
RETURNS SETOF ingest.metric_chunk
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
  b record;
  entry bytea;
  chunk ingest.metric_chunk;
BEGIN
  FOR b IN
    SELECT m.first_seq, m.width, of_key - m.first_key AS slot, m.steps_end, m.axis_end, m.statistics, m.data
    FROM ingest.metric_blocks m
    WHERE m.org_id = org AND m.run_id = run
      AND m.first_key IN (of_key & -16, of_key & -256, of_key & -4096) AND of_key < m.first_key + m.width
      AND m.first_seq > after_seq AND m.last_step >= from_step AND m.first_step <= to_step
    ORDER BY m.first_seq
  LOOP
    CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, b.slot) = 0;
    entry := substring(b.data FROM b.axis_end + 1 + 8 * b.slot FOR 8);
    CONTINUE WHEN ingest.little_endian(entry, 4) = 0;
    chunk := (b.first_seq, substring(b.data FROM 1 FOR b.steps_end),
              substring(b.data FROM b.steps_end + 1 FOR b.axis_end - b.steps_end),
              substring(b.data FROM ingest.little_endian(entry, 0) + 1 FOR ingest.little_endian(entry, 4)))::ingest.metric_chunk;
    bytes_max := bytes_max - octet_length(chunk.steps) - octet_length(chunk.times) - octet_length(chunk.section);
    RETURN NEXT chunk;
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_chunks TO tidemark_ingest;

CREATE FUNCTION ingest.metric_points_page(org uuid, run uuid, after_key text, from_step double precision,
  to_step double precision, points_max integer, after_tier integer, after_seq bigint, after_first_key integer,
  bytes_max bigint, keys_max integer, values_max integer, short_max integer)
RETURNS TABLE(kind text, version bigint, key text, key_id integer, tier integer, seq bigint, first_key integer,
  received_us bigint, steps bytea, times bytea, keys bytea, section bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET work_mem TO '16MB'
AS $$
DECLARE
  b record;
  whole bytea;
  ids integer[] := '{}';
  long_id integer;
  looked_at integer := 0;
  read_values double precision := 0;
  sure double precision := 0;
  reach double precision := 'Infinity';
  last_key text;
BEGIN
  PERFORM platform.enter_org(org);
  kind := 'run';
  version := coalesce((SELECT m.version FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = run), 0);
  RETURN NEXT;

  FOR b IN
    SELECT n.key, n.key_id, p.stats[(n.key_id & 31) * 10 + 1] AS count, p.stats[(n.key_id & 31) * 10 + 10] AS first_step,
           p.stats[(n.key_id & 31) * 10 + 9] AS last_step
    FROM (SELECT k.key, k.key_id FROM ingest.metric_keys k
          WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max) n
    CROSS JOIN LATERAL (
      SELECT g.stats FROM ingest.metric_aggregate_pages g WHERE g.org_id = org AND g.run_id = run AND g.page = n.key_id >> 5 LIMIT 1
    ) p
    ORDER BY n.key
  LOOP
    looked_at := looked_at + 1;
    last_key := b.key;
    CONTINUE WHEN b.last_step < from_step OR b.first_step > to_step;
    IF after_tier < 0 THEN
      kind := 'key';
      key := b.key;
      key_id := b.key_id;
      RETURN NEXT;
    END IF;
    IF b.count > short_max THEN
      long_id := b.key_id;
      reach := ingest.metric_reach(org, run, long_id, from_step, to_step, points_max - sure::integer);
    ELSE
      ids := ids || b.key_id;
    END IF;
    read_values := read_values + b.count;
    IF b.first_step >= from_step AND b.last_step <= to_step THEN
      sure := sure + b.count;
    END IF;
    EXIT WHEN long_id IS NOT NULL OR sure >= points_max OR read_values >= values_max;
  END LOOP;
  key := NULL;
  key_id := NULL;
  after_tier := greatest(after_tier, 1);

  IF after_tier = 1 THEN
    tier := 1;
    FOR b IN
      SELECT w.ids, m.*
      FROM (SELECT i.id & -v.width AS range_start, v.width, array_agg(i.id) AS ids
            FROM unnest(ids) AS i (id) CROSS JOIN (VALUES (16), (256), (4096)) AS v (width) GROUP BY 1, 2) w
      CROSS JOIN LATERAL (
        SELECT d.first_key, d.first_seq, d.steps_end, d.axis_end, d.data FROM ingest.metric_blocks d
        WHERE d.org_id = org AND d.run_id = run AND d.first_key = w.range_start AND d.width = w.width
          AND d.first_seq >= after_seq AND (d.first_seq, d.first_key) > (after_seq, after_first_key)
          AND d.last_step >= from_step AND d.first_step <= to_step
        OFFSET 0
      ) m
      ORDER BY m.first_seq, m.first_key
    LOOP
      seq := b.first_seq;
      first_key := b.first_key;
      -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
      whole := CASE WHEN cardinality(b.ids) * 16384 >= octet_length(b.data) THEN b.data || ''::bytea ELSE b.data END;
      SELECT string_agg(int4send(e.id) || int4send(e.size), '' ORDER BY e.id),
             string_agg(substring(whole FROM e.at + 1 FOR e.size), '' ORDER BY e.id)
      INTO keys, section
      FROM (
        SELECT d.id, ingest.little_endian(d.entry, 0) AS at, ingest.little_endian(d.entry, 4) AS size
        FROM (SELECT i.id, substring(whole FROM b.axis_end + 1 + 8 * (i.id - b.first_key) FOR 8) AS entry
              FROM unnest(b.ids) AS i (id) OFFSET 0) d
        OFFSET 0
      ) e
      WHERE e.size > 0;
      CONTINUE WHEN section IS NULL;
      kind := 'block';
      steps := substring(whole FROM 1 FOR b.steps_end);
      times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
      RETURN NEXT;
      bytes_max := bytes_max - octet_length(steps) - octet_length(times) - octet_length(section);
      EXIT WHEN bytes_max <= 0;
    END LOOP;
    keys := NULL;
    steps := NULL;
    times := NULL;
    IF bytes_max > 0 THEN
      after_tier := 2;
      after_seq := -1;
    END IF;
  END IF;

  IF after_tier = 2 AND bytes_max > 0 THEN
    IF long_id IS NOT NULL THEN
      tier := 2;
      first_key := -1;
      key_id := long_id;
      FOR kind, seq, steps, times, section IN
        SELECT 'chunk', c.* FROM ingest.metric_chunks(org, run, long_id, from_step, least(to_step, reach), after_seq, bytes_max) c
      LOOP
        RETURN NEXT;
        bytes_max := bytes_max - octet_length(steps) - octet_length(times) - octet_length(section);
      END LOOP;
      steps := NULL;
      times := NULL;
      key_id := NULL;
    END IF;
    IF bytes_max > 0 THEN
      after_tier := 3;
      after_seq := -1;
    END IF;
  END IF;

  IF after_tier = 3 AND bytes_max > 0 AND (ids <> '{}' OR long_id IS NOT NULL) THEN
    kind := 'segment';
    tier := 3;
    first_key := -1;
    FOR seq, received_us, section IN
      SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
      WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
        AND l.last_step >= from_step AND l.first_step <= to_step AND (l.first_step < reach OR ids <> '{}')
      ORDER BY l.id
    LOOP
      RETURN NEXT;
      bytes_max := bytes_max - octet_length(section);
      EXIT WHEN bytes_max <= 0;
    END LOOP;
    received_us := NULL;
  END IF;

  section := NULL;
  IF bytes_max <= 0 THEN
    kind := 'more';
    RETURN NEXT;
  ELSIF last_key IS NOT NULL AND (looked_at = keys_max OR long_id IS NOT NULL OR read_values >= values_max) AND sure < points_max THEN
    kind := 'keys';
    key := last_key;
    RETURN NEXT;
  END IF;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_points_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_points_page TO tidemark_ingest;

CREATE FUNCTION ingest.metric_reach(org uuid, run uuid, of_key integer, from_step double precision,
  to_step double precision, wanted integer)
RETURNS double precision
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
  RETURN coalesce((
    SELECT min(c.last_step) FROM (
      SELECT b.last_step, sum(ingest.chunk_values(b.statistics, of_key - b.first_key)) OVER (ORDER BY b.last_step) AS total
      FROM ingest.metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.first_key = of_key & -16 AND b.width = 16
        AND b.first_step >= from_step AND b.last_step <= to_step
    ) c
    WHERE c.total >= wanted
  ), 'Infinity');
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_reach FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_reach TO tidemark_ingest;

CREATE FUNCTION ingest.metric_run_states(org uuid, run_ids uuid[], with_pages boolean[], key_runs integer[],
  keys text[], page_runs integer[], pages integer[])
RETURNS TABLE(index integer, key_ids bytea, version bigint, key_count integer, point_count bigint, page integer,
  stats bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $$
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
    SELECT r.index::integer, NULL, m.version, m.key_count, m.point_count, NULL, NULL
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    CROSS JOIN LATERAL (SELECT o.* FROM ingest.metric_runs o WHERE o.org_id = org AND o.run_id = r.id OFFSET 0) m
    UNION ALL
    SELECT w.run, NULL, NULL, NULL, NULL, w.page, array_send(p.stats)
    FROM (SELECT f.run, f.id >> 5 AS page FROM found f WHERE f.id IS NOT NULL AND with_pages[f.run]
          UNION SELECT a.run, a.page FROM unnest(page_runs, pages) AS a (run, page)) w
    CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                        WHERE o.org_id = org AND o.run_id = run_ids[w.run] AND o.page = w.page OFFSET 0) p;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_run_states FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_run_states TO tidemark_ingest;

CREATE FUNCTION ingest.metric_series_page(org uuid, run_ids uuid[], of_key text, from_step double precision,
  to_step double precision, points_max integer, buckets integer, from_index integer, after_seq bigint, bytes_max bigint)
RETURNS TABLE(kind text, index integer, version bigint, key_id integer, count double precision,
  first_step double precision, last_step double precision, seq bigint, received_us bigint, steps bytea, times bytea,
  section bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET work_mem TO '16MB'
AS $$
DECLARE
  run uuid;
  sampled boolean;
  reach double precision;
  b record;
  entry bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR run, index, version, key_id, count, first_step, last_step IN
    SELECT r.id, r.index, coalesce(m.version, 0), h.key_id, h.count, h.first_step, h.last_step
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT k.key_id, p.stats[(k.key_id & 31) * 10 + 1] AS count, p.stats[(k.key_id & 31) * 10 + 10] AS first_step,
             p.stats[(k.key_id & 31) * 10 + 9] AS last_step
      FROM ingest.metric_keys k
      CROSS JOIN LATERAL (
        SELECT g.stats FROM ingest.metric_aggregate_pages g WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
      ) p
      WHERE k.org_id = org AND k.run_id = r.id AND k.key = of_key COLLATE "C" LIMIT 1
    ) h ON true
    WHERE r.index >= from_index
    ORDER BY r.index
  LOOP
    kind := 'run';
    RETURN NEXT;
    IF key_id IS NOT NULL AND last_step >= from_step AND first_step <= to_step THEN
      sampled := buckets IS NOT NULL AND count > points_max;
      reach := 'Infinity';
      IF NOT sampled AND count > points_max THEN
        reach := ingest.metric_reach(org, run, key_id, from_step, to_step, points_max);
      END IF;

      -- As metric_chunks, whose rows would be copied once more on their way through here.
      FOR b IN
        SELECT m.first_seq, m.width, metric_series_page.key_id - m.first_key AS slot, m.steps_end, m.axis_end, m.statistics, m.data,
               sampled AND m.statistics IS NOT NULL
               AND ingest.in_one_bucket(m.first_step, m.last_step, metric_series_page.first_step, metric_series_page.last_step, buckets) AS short
        FROM ingest.metric_blocks m
        WHERE m.org_id = org AND m.run_id = run
          AND m.first_key IN (metric_series_page.key_id & -16, metric_series_page.key_id & -256, metric_series_page.key_id & -4096)
          AND metric_series_page.key_id < m.first_key + m.width
          AND m.first_seq > after_seq AND m.last_step >= from_step AND m.first_step <= least(to_step, reach)
        ORDER BY m.first_seq
      LOOP
        CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, b.slot) = 0;
        IF b.short THEN
          kind := 'statistics';
          steps := NULL;
          section := substring(b.statistics FROM 72 * b.slot + 1 FOR 72);
        ELSE
          entry := substring(b.data FROM b.axis_end + 1 + 8 * b.slot FOR 8);
          CONTINUE WHEN ingest.little_endian(entry, 4) = 0;
          kind := 'chunk';
          steps := substring(b.data FROM 1 FOR b.steps_end);
          -- Sampled points have no times of their own.
          times := CASE WHEN NOT sampled THEN substring(b.data FROM b.steps_end + 1 FOR b.axis_end - b.steps_end) END;
          section := substring(b.data FROM ingest.little_endian(entry, 0) + 1 FOR ingest.little_endian(entry, 4));
        END IF;
        seq := b.first_seq;
        RETURN NEXT;
        bytes_max := bytes_max - coalesce(octet_length(steps), 0) - coalesce(octet_length(times), 0) - octet_length(section);
        after_seq := seq;
        times := NULL;
        EXIT WHEN bytes_max <= 0;
      END LOOP;
      steps := NULL;

      -- Its points arrived after those of the blocks, so of equal steps theirs come first.
      IF bytes_max > 0 THEN
        kind := 'segment';
        FOR seq, received_us, section IN
          SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
          WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
            AND l.last_step >= from_step AND l.first_step <= to_step AND l.first_step < reach
          ORDER BY l.id
        LOOP
          RETURN NEXT;
          bytes_max := bytes_max - octet_length(section);
          after_seq := seq;
          EXIT WHEN bytes_max <= 0;
        END LOOP;
      END IF;
      section := NULL;
      received_us := NULL;
      IF bytes_max <= 0 THEN
        kind := 'more';
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
    seq := NULL;
    after_seq := -1;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_series_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_series_page TO tidemark_ingest;

CREATE FUNCTION ingest.metric_versions(org uuid, run_ids uuid[])
RETURNS TABLE(version bigint)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT coalesce((SELECT m.version FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = r.id), 0)
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index) ORDER BY r.index;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_versions TO tidemark_ingest;

CREATE FUNCTION ingest.newest_attributes_v1(org uuid, run_ids uuid[], after_path text, rows_each integer,
  bytes_each bigint, bytes_all bigint)
RETURNS TABLE(index integer, path text, value json)
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
  batch constant integer := 64;
  reached text;
  rows_left integer;
  bytes_left bigint;
  bytes bigint;
  scanned integer;
BEGIN
  FOR at IN 1 .. cardinality(run_ids) LOOP
    index := at;
    reached := after_path;
    rows_left := rows_each;
    bytes_left := bytes_each;
    <<batches>>
    LOOP
      scanned := 0;
      FOR path, value IN
        SELECT a.path, a.value FROM ingest.attributes a
        WHERE a.org_id = org AND a.run_id = run_ids[at] AND a.path > reached
        ORDER BY a.path, a.id DESC LIMIT batch
      LOOP
        scanned := scanned + 1;
        CONTINUE WHEN path = reached;
        bytes := octet_length(value::text);
        IF rows_left = 0 OR bytes > bytes_all OR (bytes > bytes_left AND rows_left < rows_each) THEN
          value := NULL;
          RETURN NEXT;
          EXIT batches;
        END IF;
        RETURN NEXT;
        reached := path;
        rows_left := rows_left - 1;
        bytes_left := bytes_left - bytes;
        bytes_all := bytes_all - bytes;
      END LOOP;
      EXIT WHEN scanned < batch;
    END LOOP;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.newest_attributes_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.newest_attributes_v1 TO tidemark_runs;

CREATE FUNCTION ingest.assign_rank_keys(org uuid, run uuid, world smallint, request_keys text[], sets_max integer)
RETURNS TABLE(set_id integer, slot smallint, is_page boolean)
LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
  next_set integer;
  chunk text[];
  chunk_digest bytea;
  chunk_set integer;
  page integer;
  page_keys smallint;
  k record;
BEGIN
  PERFORM platform.enter_org(org);
  FOR at IN 1 .. cardinality(request_keys) BY 64 LOOP
    chunk := request_keys[at : at + 63];
    chunk_digest := substring(sha256(convert_to(world || chunk::text, 'UTF8')) FROM 1 FOR 16);
    SELECT s.set_id INTO chunk_set FROM ingest.rank_metric_sets s
    WHERE s.org_id = org AND s.run_id = run AND s.digest = chunk_digest;
    IF NOT FOUND AND next_set IS NULL THEN
      INSERT INTO ingest.rank_metric_runs AS r (org_id, run_id, sets) VALUES (org, run, 0)
      ON CONFLICT (org_id, run_id) DO UPDATE SET sets = r.sets
      RETURNING r.sets INTO next_set;
      -- Who had the lock before may have made it.
      SELECT s.set_id INTO chunk_set FROM ingest.rank_metric_sets s
      WHERE s.org_id = org AND s.run_id = run AND s.digest = chunk_digest;
    END IF;
    IF chunk_set IS NULL AND next_set < sets_max THEN
      chunk_set := next_set;
      next_set := next_set + 1;
      INSERT INTO ingest.rank_metric_sets (org_id, run_id, set_id, digest, world_size, keys)
      VALUES (org, run, chunk_set, chunk_digest, world, cardinality(chunk));
      INSERT INTO ingest.rank_metric_keys (org_id, run_id, key, set_id, slot, world_size, is_page)
      SELECT org, run, c.key, chunk_set, c.n - 1, world, false FROM unnest(chunk) WITH ORDINALITY AS c (key, n);
    END IF;
    IF chunk_set IS NOT NULL THEN
      RETURN QUERY SELECT chunk_set, (n - 1)::smallint, false FROM generate_series(1, cardinality(chunk)) AS n;
      CONTINUE;
    END IF;

    IF page IS NULL THEN
      SELECT s.set_id, s.keys INTO page, page_keys FROM ingest.rank_metric_sets s
      WHERE s.org_id = org AND s.run_id = run AND s.digest IS NULL AND s.world_size = world
      ORDER BY s.set_id DESC LIMIT 1;
    END IF;
    FOR k IN
      SELECT c.key, p.set_id, p.slot FROM unnest(chunk) WITH ORDINALITY AS c (key, n)
      LEFT JOIN ingest.rank_metric_keys p
        ON p.org_id = org AND p.run_id = run AND p.key = c.key AND p.is_page AND p.world_size = world
      ORDER BY c.n
    LOOP
      is_page := true;
      IF k.set_id IS NULL THEN
        IF page IS NULL OR page_keys = 64 THEN
          UPDATE ingest.rank_metric_sets s SET keys = page_keys
          WHERE s.org_id = org AND s.run_id = run AND s.set_id = page;
          page := next_set;
          page_keys := 0;
          next_set := next_set + 1;
          INSERT INTO ingest.rank_metric_sets (org_id, run_id, set_id, world_size, keys)
          VALUES (org, run, page, world, page_keys);
        END IF;
        INSERT INTO ingest.rank_metric_keys (org_id, run_id, key, set_id, slot, world_size, is_page)
        VALUES (org, run, k.key, page, page_keys, world, true);
        set_id := page;
        slot := page_keys;
        page_keys := page_keys + 1;
      ELSE
        set_id := k.set_id;
        slot := k.slot;
      END IF;
      RETURN NEXT;
    END LOOP;
  END LOOP;

  UPDATE ingest.rank_metric_runs r SET sets = next_set WHERE r.org_id = org AND r.run_id = run AND r.sets < next_set;
  UPDATE ingest.rank_metric_sets s SET keys = page_keys
  WHERE s.org_id = org AND s.run_id = run AND s.set_id = page AND s.keys <> page_keys;
END
$$;
REVOKE ALL ON FUNCTION ingest.assign_rank_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.assign_rank_keys TO tidemark_ingest;

CREATE FUNCTION ingest.rank_values(org uuid, run uuid, sets integer[], slots smallint[], pages boolean[],
  from_step double precision, to_step double precision)
RETURNS TABLE(index integer, steps bytea, ranks bytea, key_values bytea, weights bytea, received_us bytea)
LANGUAGE sql
STABLE
SET enable_seqscan TO 'off'
AS $$
  SELECT s.n::integer - 1, v.steps, v.ranks, v.key_values, v.weights, v.received_us
  FROM unnest(sets, slots, pages) WITH ORDINALITY AS s (set_id, slot, is_page, n) CROSS JOIN LATERAL (
    SELECT b.last_step AS at, b.steps, b.ranks, substring(b.set_values FROM 8 * b.entries * s.slot + 1 FOR 8 * b.entries) AS key_values,
           b.weights, b.received_us
    FROM ingest.rank_metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.set_id = s.set_id AND b.last_step >= from_step AND b.first_step <= to_step
    UNION ALL
    SELECT 'Infinity', string_agg(float8send(r.step), ''), string_agg(int2send(r.rank), ''),
           string_agg(substring(r.packed FROM 8 * (s.slot - r.first_slot) + 1 FOR 8), ''),
           string_agg(CASE WHEN r.weight IS NULL THEN '\x00'::bytea ELSE '\x01'::bytea || float8send(r.weight) END, ''),
           string_agg(int8send(r.received_us), '')
    FROM (
      SELECT r.* FROM ingest.rank_metric_rows r
      WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id AND r.step BETWEEN from_step AND to_step
        AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
      ORDER BY r.step, r.rank, r.arrival
    ) r
    HAVING count(*) > 0
  ) v
  ORDER BY s.n, v.at
$$;
REVOKE ALL ON FUNCTION ingest.rank_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.rank_values TO tidemark_ingest;

CREATE FUNCTION ingest.release_compaction(org uuid, of_kind text, run uuid, of_part text, held_fence uuid,
  seen_marker timestamp with time zone, next_seconds double precision, quiet_seconds double precision,
  failures_in_row integer)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
  IF quiet_seconds IS NOT NULL THEN
    DELETE FROM ingest.compaction_work w
    WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence
      AND w.marked_at = seen_marker AND w.marked_at < now() - make_interval(secs => quiet_seconds);
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  UPDATE ingest.compaction_work w SET
    claimed_until = '-infinity',
    due_at = CASE WHEN w.marked_at = seen_marker THEN now() + make_interval(secs => next_seconds)
                  ELSE least(w.due_at, now() + make_interval(secs => next_seconds)) END,
    failures = failures_in_row
  WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence;
END
$$;
REVOKE ALL ON FUNCTION ingest.release_compaction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.release_compaction TO tidemark_ingest_worker;

CREATE FUNCTION ingest.replace_log_blocks(org uuid, run uuid, of_stream text, held_fence uuid,
  lease_seconds double precision, segment_ids double precision[], old_levels integer[], old_lines double precision[],
  old_ids double precision[], new_levels integer[], first_lines double precision[], first_ids double precision[],
  last_lines double precision[], last_ids double precision[], line_counts integer[], text_bytes integer[],
  new_blocks bytea[])
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  gone integer;
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'logs' AND w.run_id = run AND w.part = of_stream AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  DELETE FROM ingest.log_segments l USING unnest(segment_ids) AS d (id)
  WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = d.id::bigint;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(segment_ids) THEN
    RAISE EXCEPTION '% of % segments were there', gone, cardinality(segment_ids);
  END IF;

  DELETE FROM ingest.log_blocks b USING unnest(old_levels, old_lines, old_ids) AS d (level, line, id)
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream
    AND b.level = d.level AND b.first_line = d.line::bigint AND b.first_id = d.id::bigint;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(old_levels) THEN
    RAISE EXCEPTION '% of % blocks were there', gone, cardinality(old_levels);
  END IF;

  INSERT INTO ingest.log_blocks
    (org_id, run_id, stream, level, first_line, first_id, last_line, last_id, lines, message_bytes, block)
  SELECT org, run, of_stream, n.level, n.first_line::bigint, n.first_id::bigint, n.last_line::bigint,
         n.last_id::bigint, n.lines, n.bytes, n.block
  FROM unnest(new_levels, first_lines, first_ids, last_lines, last_ids, line_counts, text_bytes, new_blocks)
       AS n (level, first_line, first_id, last_line, last_id, lines, bytes, block);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION ingest.replace_log_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.replace_log_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.replace_metric_blocks(org uuid, run uuid, held_fence uuid, lease_seconds double precision,
  segment_ids double precision[], old_keys integer[], old_seqs double precision[], first_keys integer[],
  widths integer[], first_seqs double precision[], last_seqs double precision[], first_steps double precision[],
  last_steps double precision[], point_counts integer[], value_counts integer[], steps_ends integer[],
  axis_ends integer[], new_statistics bytea[], new_data bytea[])
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  gone integer;
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'metrics' AND w.run_id = run AND w.part = '' AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  DELETE FROM ingest.metric_segments l
  WHERE l.org_id = org AND l.run_id = run AND l.id = ANY (segment_ids::bigint[]);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(segment_ids) THEN
    RAISE EXCEPTION '% of % segments were there', gone, cardinality(segment_ids);
  END IF;

  FOR at IN 1 .. cardinality(old_keys) LOOP
    DELETE FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.first_key = old_keys[at] AND b.first_seq = old_seqs[at]::bigint;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'block % of key % was not there', old_seqs[at], old_keys[at];
    END IF;
  END LOOP;

  INSERT INTO ingest.metric_blocks
    (org_id, run_id, first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
     steps_end, axis_end, statistics, data)
  SELECT org, run, n.first_key, n.width, n.first_seq::bigint, n.last_seq::bigint, n.first_step, n.last_step,
         n.points, n.value_count, n.steps_end, n.axis_end, nullif(n.statistics, ''), n.data
  FROM unnest(first_keys, widths, first_seqs, last_seqs, first_steps, last_steps, point_counts, value_counts,
              steps_ends, axis_ends, new_statistics, new_data)
       AS n (first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
             steps_end, axis_end, statistics, data);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION ingest.replace_metric_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.replace_metric_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.index_sort_values(org uuid, run uuid, after_key text, keys_max integer)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  created timestamptz := (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run);
  last_key text;
BEGIN
  SELECT max(n.key) INTO last_key FROM (
    SELECT k.key FROM ingest.metric_keys k
    WHERE k.org_id = org AND k.run_id = run AND k.key > after_key COLLATE "C" ORDER BY k.key LIMIT keys_max
  ) n;
  UPDATE ingest.metric_keys k SET sort_best = h.sort_best, sort_latest = h.latest, sort_created_at = created
  FROM (SELECT n.key, CASE WHEN n.minimise THEN -p.stats[(n.key_id & 31) * 10 + 4] ELSE p.stats[(n.key_id & 31) * 10 + 6] END AS sort_best,
               p.stats[(n.key_id & 31) * 10 + 8] AS latest
        FROM ingest.metric_keys n
        CROSS JOIN LATERAL (SELECT o.stats FROM ingest.metric_aggregate_pages o
                            WHERE o.org_id = n.org_id AND o.run_id = n.run_id AND o.page = n.key_id >> 5 OFFSET 0) p
        WHERE n.org_id = org AND n.run_id = run AND n.key > after_key COLLATE "C" AND n.key <= last_key COLLATE "C") h
  WHERE k.org_id = org AND k.run_id = run AND k.key = h.key
    AND (k.sort_best IS DISTINCT FROM h.sort_best OR k.sort_latest IS DISTINCT FROM h.latest);
  RETURN last_key;
END
$$;
REVOKE ALL ON FUNCTION ingest.index_sort_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.index_sort_values TO tidemark_ingest;

CREATE FUNCTION ingest.finish_indexing(org uuid, run uuid, touched integer)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  total bigint;
  before bigint;
BEGIN
  PERFORM FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id = run AND u.touched_minute = touched FOR UPDATE;
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
  DELETE FROM ingest.unindexed_runs u WHERE u.org_id = org AND u.run_id = run;
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION ingest.finish_indexing FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.finish_indexing TO tidemark_ingest;

CREATE FUNCTION ingest.waiting_log_rows(org uuid, run uuid, of_stream text, rest_seconds double precision,
  rows_max integer, bytes_max bigint)
RETURNS TABLE(id bigint, received_us bigint, age_seconds double precision, block bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
  text_bytes integer;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, text_bytes, block IN
    SELECT l.id, l.received_us, l.message_bytes, l.block FROM ingest.log_segments l
    WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
      AND l.received_us <= now_us - rest_seconds * 1000000
    ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - text_bytes;
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.waiting_log_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.waiting_log_rows TO tidemark_ingest_worker;

CREATE FUNCTION ingest.waiting_metric_rows(org uuid, run uuid, rows_max integer, bytes_max bigint)
RETURNS TABLE(id bigint, received_us bigint, age_seconds double precision, points bytea)
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
AS $$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, points IN
    SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
    WHERE l.org_id = org AND l.run_id = run ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - octet_length(points);
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.waiting_metric_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.waiting_metric_rows TO tidemark_ingest_worker;

COMMENT ON FUNCTION ingest.append_attributes IS
  'Stores one request of attributes in one round trip. Outcomes: inserted; not_found: the run does not exist or '
  'lies outside only_project. The rows get the ids from first_id on; an id that is taken fails the transaction. NaN '
  'stands for no step, null for no time.';
COMMENT ON FUNCTION ingest.append_log_lines IS
  'Stores one request of console lines in one round trip. Outcomes: inserted; not_found; replayed: a repeat of a '
  'stored request, with its count; reused: the idempotency key belongs to another request. A segment id that is '
  'taken fails the transaction. marker_seconds: leave a dirty marker that is due in this many seconds; null: leave '
  'none. Takes no lock that a compactor ever holds.';
COMMENT ON FUNCTION ingest.append_metric_group IS
  'Stores a group of requests of one organization, all of them or none, with the changes of key aggregates that '
  'they make. Every array whose name ends in runs holds indexes into run_ids, from 1. run_ids are distinct and '
  'ascending; versions are those that the caller knows, 0 for a run without metrics; next_versions, key_counts and '
  'point_counts are those after the writes; noted: the caller knows that the run has a recent row in '
  'unindexed_runs. Each request has an element in write_runs, seqs (the next versions of the run, one by one), '
  'first_steps, last_steps, blocks, and marker_seconds (negative: no dirty marker). keys, bodies and replies are '
  'the idempotency records of the requests that have them, keys distinct. new_key_runs and what follows: keys that '
  'the runs did not have; page_changes: changes of aggregate pages. Outcomes: applied; keys: the keys at indexes '
  'cannot be used, as claim_keys says; stale: the runs at indexes have other versions. Nothing is written in the '
  'last two cases. Look-ups are laterals behind OFFSET 0, and changes go through ON CONFLICT: a plan that was made '
  'while a table was small must not read it whole when it has grown. One plan is right for all values: planning at '
  'each call would cost more than everything else.';
COMMENT ON FUNCTION ingest.append_rank_metrics IS
  'Stores one request of rank metrics in one round trip, with the outcomes of append_log_lines, and leaves a dirty '
  'marker for each of marker_sets, due in marker_seconds.';
COMMENT ON FUNCTION ingest.chunk_values IS
  'Returns how many values a key has in a block of a range of 16 keys, or slightly less where it has thousands: the '
  'first double of its statistics, of whose mantissa the twelve leading bits count.';
COMMENT ON FUNCTION ingest.compact_rank_rows IS
  'Moves rows as move_rank_rows_to_block does, and extends the claim on the work by lease_seconds. Returns -1, and '
  'does nothing, when the fence token is no longer the holder''s.';
COMMENT ON FUNCTION ingest.crowded_key_ranges IS
  'Returns the next key ranges of a run behind a first key and width, in this order, that have several blocks which '
  'are not sealed. Reads all blocks of the run: call it once, for a run that is not written any more.';
COMMENT ON FUNCTION ingest.move_rank_rows_to_block IS
  'Moves rows of a set that have not been written for rest_seconds into a block: first those behind all blocks, so '
  'that blocks do not overlap, then those that came late; each time those of the lowest steps, about entries_max of '
  'them, all resting rows of a step together; none where there are fewer than entries_min. Rows that came late stay '
  'rows where overlaps_max blocks are at their steps already: rows replace each other, blocks do not, so what a '
  'reader finds at a step stays bounded however often it is written. Returns how many rows were moved. A row that '
  'is written again meanwhile stays; so do rows of pages, which may have different keys. A second caller does '
  'nothing while another moves rows of the set.';
COMMENT ON FUNCTION ingest.has_rank_value IS
  'Tells whether a row of a page has a value for the slot. A plain expression, so that PostgreSQL inlines it.';
COMMENT ON FUNCTION ingest.in_one_bucket IS
  'Tells whether all steps from a to b that lie from low to high are in one of buckets equal parts of the latter, '
  'by the arithmetic of the sampler; false where PostgreSQL would refuse to calculate.';
COMMENT ON FUNCTION ingest.little_endian IS
  'Reads a 32-bit number, lowest byte first, at a byte of a block.';
COMMENT ON FUNCTION ingest.lock_metric_runs IS
  'Locks runs, distinct and ascending, until the transaction ends, so that what is read of them next cannot change.';
COMMENT ON FUNCTION ingest.log_blocks_at_top IS
  'Returns the first block of the highest level of a stream, if that is at least lowest_level, and the blocks of '
  'all lower levels that overlap it, at most blocks_max of each.';
COMMENT ON FUNCTION ingest.log_blocks_before IS
  'Returns of each level of a stream the blocks that begin at or before each of the positions, nearest first, at '
  'most blocks_max of each.';
COMMENT ON FUNCTION ingest.log_parts_after IS
  'Returns the segments and blocks that may hold lines after a position, in the order of their first line. '
  'from_line and from_id are the first position of the part that was read last, both -1 to begin. They end where no '
  'later line can be among the first lines_max, or where their bytes suffice; a last row without a block says that '
  'there are more, with the position before which no line was left out. One statement, so one snapshot: a line that '
  'is being moved between the tiers shows exactly once. Of each level only the block at the position and the next '
  'blocks_max are read, so the cost does not grow with the stream; of segments all that wait. One plan is right for '
  'all values, and planning at each call would take three times as long as the rest.';
COMMENT ON FUNCTION ingest.log_parts_at_end IS
  'Returns parts as log_parts_after does, from the end of the stream, in descending order of their last line. The '
  'last row, where there are more, has the position behind which no line was left out.';
COMMENT ON FUNCTION ingest.metric_block_tails IS
  'Returns of each of the first keys the blocks that may still be joined with others, newest first: all that are '
  'newer than the last block of 16 keys with at least sealed_points points. They are few at any time.';
COMMENT ON FUNCTION ingest.metric_chunks IS
  'Returns what the blocks have of one key, in the order of arrival, of those that begin after after_seq and may '
  'have steps within the bounds, up to the chunk that takes it to bytes_max bytes.';
COMMENT ON FUNCTION ingest.metric_key_ids IS
  'Returns the ids of keys of a run; a key that the run does not have has no row.';
COMMENT ON FUNCTION ingest.metric_points_page IS
  'Returns what is stored of the first keys of a run that follow after_key: as many keys as are sure to have '
  'points_max points within the bounds, or as are read in one call. Kinds of rows, in this order: run: the run''s '
  'version; key: the text and id of a key that is read, not on later pages; block: points of several keys in a '
  'block: its steps and times, the id and the length of the section of each key in keys, four bytes each, highest '
  'first, and these sections in section; chunk: points of one key in a block, as of metric_chunks; segment: a whole '
  'request in section; more: the page is full, and what follows tier, seq and first_key was left out; keys: these '
  'keys are complete, and there are more behind key. The order within a key is that of arrival. A page begins after '
  'after_tier, seq and first_key, all -1 to begin. One call reads at most keys_max keys, about values_max values, '
  'and one key of more than short_max points, after the others and only as far as it is wanted.';
COMMENT ON FUNCTION ingest.metric_reach IS
  'Returns the lowest step up to which a key has wanted points in blocks that lie within the bounds; Infinity when '
  'that cannot be told. A block that begins behind it has none of the first wanted points.';
COMMENT ON FUNCTION ingest.metric_run_states IS
  'Returns what a writer has to know of runs, in one snapshot. Arrays whose names end in runs hold indexes into '
  'run_ids, from 1. First a row without an index, with key_ids: the ids of keys in the runs beside them, in their '
  'order, as 32-bit numbers, big-endian, -1 for a key that the run does not have. Then of each run with metrics its '
  'version and its counts of keys and values, and each aggregate page that is asked for by page_runs and pages, or '
  'that one of these keys is in if the run is with_pages, as array_send writes it. Plans as append_metric_group '
  'does.';
COMMENT ON FUNCTION ingest.metric_series_page IS
  'Returns what is stored of one key in runs, by run in the order asked for and then by arrival. Of each run first '
  'a row of kind run: its version and, where it has the key, the key''s id, and the number and the first and last '
  'step of all its points. Then what the blocks have: chunk, as of metric_chunks, or, with buckets, statistics of a '
  'block that lies within one bucket, 72 bytes in section; then whole requests, kind segment, in section. A last '
  'row of kind more says that what follows seq in the run at index was left out. Reads the first points_max points '
  'within the bounds, or, with buckets, all points of a run that has at most points_max, and what a sampler needs '
  'of one that has more. Begins in the run at from_index, counted from 1, after after_seq, -1 for its begin.';
COMMENT ON FUNCTION ingest.metric_versions IS
  'Returns the version of each run, in their order; 0 for a run without metrics.';
COMMENT ON FUNCTION ingest.newest_attributes_v1 IS
  'Returns a page of the paths of runs after after_path, run by run, each with its newest value. A run has at most '
  'rows_each paths in a page, and, after a first one of any size, at most bytes_each bytes of JSON; all runs '
  'together at most bytes_all bytes. Where a run has more, its next path follows with null for its value: all '
  'values of the paths before the least of those are in the page. A function and not a view, because it counts '
  'bytes, and because it jumps over the older rows of a path, of which a run may have a hundred thousand; a few '
  'dozen at a time, so that paths with one row do not cost a jump each.';
COMMENT ON FUNCTION ingest.assign_rank_keys IS
  'Returns where the keys of a request are stored, in the order of the keys, and assigns a set or a slot of a page '
  'to each key that has none. Makes up to sets_max sets for keys that come together, then pages.';
COMMENT ON FUNCTION ingest.rank_sets_of_key IS
  'Returns the sets that have the key, and a value of it between the steps.';
COMMENT ON FUNCTION ingest.rank_step_floor IS
  'Returns a step from which on, up to to_step, the sets have at least steps_max steps, or all between the two. It '
  'is not always the highest such step, so the caller drops what is too much, but it is never much lower.';
COMMENT ON FUNCTION ingest.rank_values IS
  'Returns the values of a key between two steps, by set: columns of one length in the order of step and rank. '
  'First the blocks, ascending, which may have some values outside of the two steps, then the rows.';
COMMENT ON FUNCTION ingest.read_log_blocks IS
  'Returns the contents of blocks, each named by its level and its first position, in the order asked for.';
COMMENT ON FUNCTION ingest.read_metric_blocks IS
  'Returns the contents of blocks, each named by its first key and first seq, in the order asked for.';
COMMENT ON FUNCTION ingest.release_compaction IS
  'Ends a claim. The work is due again in next_seconds, or earlier when a dirty marker that was taken meanwhile '
  'says so. With quiet_seconds the work is deleted instead if its last marker is older than that: every writer '
  'leaves markers at shorter intervals, so what it wrote before has been seen.';
COMMENT ON FUNCTION ingest.replace_log_blocks IS
  'One step of a compaction, all of it or nothing: deletes the segments and blocks that were read and inserts '
  'blocks that hold exactly their lines. Returns false, and does nothing, when the fence token is no longer the '
  'holder''s. Otherwise the claim lasts lease_seconds more. Nothing else deletes these rows, so a row that is '
  'missing is a fault and fails the step.';
COMMENT ON FUNCTION ingest.replace_metric_blocks IS
  'One step of a compaction, all of it or nothing: deletes the segments and blocks that were read and inserts '
  'blocks that hold exactly their points; an empty byte string stands for no statistics. Returns false, and does '
  'nothing, when the fence token is no longer the holder''s. Otherwise the claim lasts lease_seconds more. Nothing '
  'else deletes these rows, so a row that is missing is a fault and fails the step. Takes no lock that a write or a '
  'read waits for.';
COMMENT ON FUNCTION ingest.index_sort_values IS
  'Copies the values to sort by of the next keys of a run behind after_key, at most keys_max. Returns the last of '
  'these keys, null when there are none. Takes no lock that a write needs.';
COMMENT ON FUNCTION ingest.finish_indexing IS
  'Ends the indexing of a run and counts its values for the project. Returns false, and does nothing, when the run '
  'was written since the minute touched.';
COMMENT ON FUNCTION ingest.visible_project IS
  'Returns the project of a run; null when the run does not exist, belongs to another organization or lies outside '
  'only_project.';
COMMENT ON FUNCTION ingest.waiting_log_rows IS
  'Returns the segments of a stream that were received at least rest_seconds ago, in the order of their arrival, up '
  'to rows_max rows or the row that takes their messages to bytes_max bytes.';
COMMENT ON FUNCTION ingest.waiting_metric_rows IS
  'Returns the segments of a run in the order of their arrival, up to rows_max rows or the row that takes them to '
  'bytes_max bytes. A row that can be seen has no earlier row that cannot be seen.';
COMMENT ON VIEW ingest.metric_aggregates_v1 IS
  'Key aggregates: one row per run and key. variance is the population variance, null where a double cannot hold '
  'it; best is the minimum where less is better, else the maximum. The page is looked up for each key: a join would '
  'read all pages of a run for a few keys.';
COMMENT ON VIEW ingest.metric_keys_v1 IS
  'The keys of runs with their ids.';
COMMENT ON VIEW ingest.metric_runs_v1 IS
  'How many keys and values a run has; counting the keys of a run with 100,000 of them would take a tenth of a '
  'second.';
COMMENT ON VIEW ingest.metric_sort_values_v1 IS
  'The values to sort by of indexed runs; more is better in sort_best.';
COMMENT ON VIEW ingest.unindexed_sort_values_v1 IS
  'The values to sort by of runs that are not indexed, from their key aggregates.';
COMMENT ON VIEW ingest.project_points_v1 IS
  'How many values the indexed runs of a project have.';
COMMENT ON VIEW ingest.indexed_points_v1 IS
  'How many values runs had when they were indexed.';
COMMENT ON VIEW ingest.unindexed_points_v1 IS
  'How many values runs that are not indexed have beyond those counted when they were.';
