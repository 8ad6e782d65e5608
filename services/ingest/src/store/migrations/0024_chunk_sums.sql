-- Blocks know the sum of each of their chunks, so that means of many points can be told without them. Those that were stored before get theirs from
-- the compactor.

ALTER TABLE ingest.metric_blocks ADD COLUMN sums bytea STORAGE PLAIN;
COMMENT ON COLUMN ingest.metric_blocks.sums IS
  'of ranges of 16 keys, 16 bytes for each key: the sum of its values in two doubles; null in blocks of the time before there were any';
CREATE INDEX metric_blocks_without_sums ON ingest.metric_blocks (org_id, run_id) WHERE sums IS NULL AND statistics IS NOT NULL;
GRANT UPDATE (sums) ON ingest.metric_blocks TO tidemark_ingest_worker;

-- As their owner, who is fenced as well.
ALTER TABLE ingest.metric_blocks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.dirty_markers NO FORCE ROW LEVEL SECURITY;
INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
SELECT DISTINCT b.org_id, 'metrics', b.run_id, '', -1, now() FROM ingest.metric_blocks b
WHERE b.sums IS NULL AND b.statistics IS NOT NULL;
ALTER TABLE ingest.metric_blocks FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.dirty_markers FORCE ROW LEVEL SECURITY;

DROP FUNCTION ingest.replace_metric_blocks;
CREATE FUNCTION ingest.replace_metric_blocks(org uuid, run uuid, held_fence uuid, lease_seconds double precision,
  segment_ids double precision[], old_keys integer[], old_seqs double precision[], first_keys integer[],
  widths integer[], first_seqs double precision[], last_seqs double precision[], first_steps double precision[],
  last_steps double precision[], point_counts integer[], value_counts integer[], steps_ends integer[],
  axis_ends integer[], new_statistics bytea[], new_sums bytea[], new_data bytea[])
RETURNS boolean
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
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
     steps_end, axis_end, statistics, sums, data)
  SELECT org, run, n.first_key, n.width, n.first_seq::bigint, n.last_seq::bigint, n.first_step, n.last_step,
         n.points, n.value_count, n.steps_end, n.axis_end, nullif(n.statistics, ''), nullif(n.sums, ''), n.data
  FROM unnest(first_keys, widths, first_seqs, last_seqs, first_steps, last_steps, point_counts, value_counts,
              steps_ends, axis_ends, new_statistics, new_sums, new_data)
       AS n (first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
             steps_end, axis_end, statistics, sums, data);
  RETURN true;
END
$$;
COMMENT ON FUNCTION ingest.replace_metric_blocks IS
  'Replaces landing segments and blocks of a run by blocks with the same points: all or nothing. Prolongs the claim; '
  'returns false, and does nothing, when the claim does not hold any more.';
REVOKE ALL ON FUNCTION ingest.replace_metric_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.replace_metric_blocks TO tidemark_ingest_worker;

CREATE FUNCTION ingest.blocks_without_sums(org uuid, run uuid, rows_max integer)
RETURNS TABLE (first_key integer, first_seq bigint, data bytea)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY SELECT b.first_key, b.first_seq, b.data FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.sums IS NULL AND b.statistics IS NOT NULL LIMIT rows_max;
END
$$;
COMMENT ON FUNCTION ingest.blocks_without_sums IS 'Returns some blocks of a run that have statistics without sums.';
REVOKE ALL ON FUNCTION ingest.blocks_without_sums FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.blocks_without_sums TO tidemark_ingest_worker;

CREATE FUNCTION ingest.put_block_sums(org uuid, run uuid, first_keys integer[], first_seqs double precision[], new_sums bytea[])
RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  -- Row by row, which is one look-up each. A block that is gone was rewritten, with sums.
  FOR at IN 1 .. cardinality(first_keys) LOOP
    UPDATE ingest.metric_blocks b SET sums = new_sums[at]
    WHERE b.org_id = org AND b.run_id = run AND b.first_key = first_keys[at] AND b.first_seq = first_seqs[at]::bigint
      AND b.sums IS NULL;
  END LOOP;
END
$$;
COMMENT ON FUNCTION ingest.put_block_sums IS 'Gives blocks of a run, which have none, the sums of their chunks.';
REVOKE ALL ON FUNCTION ingest.put_block_sums FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.put_block_sums TO tidemark_ingest_worker;
