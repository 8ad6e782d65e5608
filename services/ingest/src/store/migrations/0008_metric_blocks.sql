-- The second tier of metrics: blocks of some thousand points of several keys, into which a compactor turns
-- what has landed. A reader merges both tiers in one statement.

-- Keys are numbered in the order in which they appeared, so those that are logged together are
-- neighbours. A block covers a stripe of them, wide where each key has few points and narrow where it
-- has many: the more points there are, the fewer keys a reader of one has to pass. Of a key, all
-- blocks of a narrower stripe are older than those of a wider one.
CREATE TABLE ingest.metric_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  first_key integer NOT NULL,
  width integer NOT NULL CHECK (width IN (16, 256, 4096) AND first_key % width = 0),
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL CHECK (last_seq >= first_seq),
  first_step double precision NOT NULL,
  last_step double precision NOT NULL,
  points integer NOT NULL,
  value_count integer NOT NULL,
  steps_end integer NOT NULL,
  axis_end integer NOT NULL,
  heads bytea,
  data bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, first_key, first_seq)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN ingest.metric_blocks.first_key IS 'the block has values of keys from this id on, below first_key + width';
COMMENT ON COLUMN ingest.metric_blocks.first_seq IS 'id of the first landing row whose points are in the block; for any one key no two blocks overlap';
COMMENT ON COLUMN ingest.metric_blocks.last_seq IS 'id of the last such row; all landing rows with values of these keys have greater ones';
COMMENT ON COLUMN ingest.metric_blocks.first_step IS 'the lowest step in the block';
COMMENT ON COLUMN ingest.metric_blocks.last_step IS 'the highest step in the block';
COMMENT ON COLUMN ingest.metric_blocks.points IS 'points of all keys together: steps with what was logged at them';
COMMENT ON COLUMN ingest.metric_blocks.steps_end IS 'byte of data where the steps end and the times begin';
COMMENT ON COLUMN ingest.metric_blocks.axis_end IS 'byte of data where the times end and the directory of the keys begins';
COMMENT ON COLUMN ingest.metric_blocks.heads IS 'of stripes of 16 keys, 72 bytes for each: count, first and last point, lowest and highest value';
COMMENT ON COLUMN ingest.metric_blocks.data IS 'a block of the metric codec';

-- Packed already. A reader takes only the bytes that it needs; the heads are read without the data.
ALTER TABLE ingest.metric_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE ingest.metric_blocks ALTER COLUMN heads SET STORAGE PLAIN;

-- Landing rows live for seconds now: those of up to 8 KB stay in their page.
ALTER TABLE ingest.metric_landing
  SET (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

SELECT platform.fence('ingest.metric_blocks');
GRANT SELECT ON ingest.metric_blocks TO tidemark_ingest;
GRANT SELECT, DELETE ON ingest.metric_landing TO tidemark_ingest_worker;
GRANT SELECT ON ingest.metric_keys TO tidemark_ingest_worker;
GRANT SELECT, INSERT, DELETE ON ingest.metric_blocks TO tidemark_ingest_worker;

-- What has landed before there was a compactor is to be compacted too. The rows are fenced from their
-- owner as well.
ALTER TABLE ingest.metric_landing NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.compaction_marks NO FORCE ROW LEVEL SECURITY;
INSERT INTO ingest.compaction_marks (org_id, kind, run_id, part, id, due_at)
SELECT l.org_id, 'metrics', l.run_id, '', max(l.id), now() FROM ingest.metric_landing l GROUP BY l.org_id, l.run_id;
ALTER TABLE ingest.metric_landing FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.compaction_marks FORCE ROW LEVEL SECURITY;

-- The landing rows of a run in the order of their arrival, up to `rows_max` rows or the row that takes
-- them to `bytes_max` bytes. A row that can be seen has no other before it that cannot.
CREATE FUNCTION ingest.waiting_metric_rows(org uuid, run uuid, rows_max integer, bytes_max bigint)
  RETURNS TABLE (id bigint, received_us bigint, age_seconds double precision, points bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, points IN
    SELECT l.id, l.received_us, l.points FROM ingest.metric_landing l
    WHERE l.org_id = org AND l.run_id = run ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - octet_length(points);
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$$;

-- The ids of some keys of a run.
CREATE FUNCTION ingest.metric_key_ids(org uuid, run uuid, keys text[]) RETURNS TABLE (key text, key_id integer)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT k.key, k.key_id FROM unnest(keys) AS w (key)
    CROSS JOIN LATERAL (
      SELECT m.key, m.key_id FROM ingest.metric_keys m
      WHERE m.org_id = org AND m.run_id = run AND m.key = w.key COLLATE "C" LIMIT 1
    ) k;
END
$$;

-- Of each of some first keys, the blocks that may still be joined with others, newest first: all that are
-- newer than the last narrow block of at least `sealed_points` points. They are few at any time.
CREATE FUNCTION ingest.metric_block_tails(org uuid, run uuid, first_keys integer[], sealed_points integer)
  RETURNS TABLE (first_key integer, width integer, first_seq bigint, last_seq bigint, points integer, value_count integer)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  wanted integer;
BEGIN
  PERFORM platform.enter_org(org);
  FOREACH wanted IN ARRAY first_keys LOOP
    FOR first_key, width, first_seq, last_seq, points, value_count IN
      SELECT b.first_key, b.width, b.first_seq, b.last_seq, b.points, b.value_count FROM ingest.metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.first_key = wanted ORDER BY b.first_seq DESC
    LOOP
      EXIT WHEN width = 16 AND points >= sealed_points;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END
$$;

-- The next stripes of a run after a place, in the order of first key and width, that have several blocks
-- which are not sealed. Looks at all blocks of the run: for once it is not written any more.
CREATE FUNCTION ingest.crowded_metric_stripes(
  org uuid, run uuid, sealed_points integer, after_key integer, after_width integer, stripes_max integer
) RETURNS TABLE (first_key integer, width integer)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.first_key, b.width FROM ingest.metric_blocks b
    WHERE b.org_id = org AND b.run_id = run AND b.points < sealed_points
      AND b.first_key >= after_key AND (b.first_key, b.width) > (after_key, after_width)
    GROUP BY b.first_key, b.width HAVING count(*) > 1
    ORDER BY b.first_key, b.width LIMIT stripes_max;
END
$$;

-- The contents of some blocks, each named by its first key and first seq, in the order asked for.
CREATE FUNCTION ingest.read_metric_blocks(org uuid, run uuid, first_keys integer[], first_seqs double precision[])
  RETURNS TABLE (data bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.data FROM unnest(first_keys, first_seqs) WITH ORDINALITY AS w (key, seq, n)
    CROSS JOIN LATERAL (
      SELECT m.data FROM ingest.metric_blocks m
      WHERE m.org_id = org AND m.run_id = run AND m.first_key = w.key AND m.first_seq = w.seq::bigint LIMIT 1
    ) b
    ORDER BY w.n;
END
$$;

-- One step of a compaction, all of it or nothing: landing rows and blocks that were read go, blocks
-- that hold exactly their points come; an empty byte string stands for no heads. False, and nothing
-- done, when the fence is no longer the holder's: somebody else has the work. Otherwise the claim
-- lasts `lease_seconds` more. Nothing else takes these rows away, so a row that is missing is a fault
-- and fails the step. Locks nothing that a write or a read waits for.
CREATE FUNCTION ingest.replace_metric_blocks(
  org uuid, run uuid, held_fence uuid, lease_seconds double precision, landing_ids double precision[],
  old_keys integer[], old_seqs double precision[],
  first_keys integer[], widths integer[], first_seqs double precision[], last_seqs double precision[],
  first_steps double precision[], last_steps double precision[], point_counts integer[], value_counts integer[],
  steps_ends integer[], axis_ends integer[], new_heads bytea[], new_data bytea[]
) RETURNS boolean
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

  DELETE FROM ingest.metric_landing l
  WHERE l.org_id = org AND l.run_id = run AND l.id = ANY (landing_ids::bigint[]);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(landing_ids) THEN
    RAISE EXCEPTION '% of % landing rows were there', gone, cardinality(landing_ids);
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
     steps_end, axis_end, heads, data)
  SELECT org, run, n.first_key, n.width, n.first_seq::bigint, n.last_seq::bigint, n.first_step, n.last_step,
         n.points, n.value_count, n.steps_end, n.axis_end, nullif(n.heads, ''), n.data
  FROM unnest(first_keys, widths, first_seqs, last_seqs, first_steps, last_steps, point_counts, value_counts,
              steps_ends, axis_ends, new_heads, new_data)
       AS n (first_key, width, first_seq, last_seq, first_step, last_step, points, value_count,
             steps_end, axis_end, heads, data);
  RETURN true;
END
$$;

REVOKE ALL ON FUNCTION ingest.waiting_metric_rows, ingest.metric_key_ids, ingest.metric_block_tails,
  ingest.crowded_metric_stripes, ingest.read_metric_blocks, ingest.replace_metric_blocks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.waiting_metric_rows, ingest.metric_key_ids, ingest.metric_block_tails,
  ingest.crowded_metric_stripes, ingest.read_metric_blocks, ingest.replace_metric_blocks TO tidemark_ingest_worker;
