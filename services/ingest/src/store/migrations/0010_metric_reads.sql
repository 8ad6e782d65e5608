-- Reads of both tiers of metrics. A read is one statement and so sees one moment: a point that is just
-- being moved between the tiers shows exactly once. Where one statement would bring too much, the caller
-- reads on page by page, in one transaction that sees one moment as a whole.

-- How many values a key has in a block of a narrow stripe, or a little less where it has thousands: the
-- first double of its head, of whose digits the twelve behind the leading one count.
CREATE FUNCTION ingest.chunk_values(heads bytea, slot integer) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN heads IS NULL OR octet_length(heads) < 72 * (slot + 1) OR get_byte(heads, 72 * slot + 7) = 0 THEN 0
    ELSE ((4096 + ((get_byte(heads, 72 * slot + 6) & 15) << 8) + get_byte(heads, 72 * slot + 5))
          << least((get_byte(heads, 72 * slot + 7) << 4) + (get_byte(heads, 72 * slot + 6) >> 4) - 1023, 18)) >> 12
  END;

-- Whether all steps from `a` to `b` that lie from `low` to `high` are in one of `buckets` equal parts of the
-- latter, by the arithmetic of the sampler; false where PostgreSQL would refuse to calculate.
CREATE FUNCTION ingest.in_one_bucket(
  a double precision, b double precision, low double precision, high double precision, buckets integer
) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN low = high THEN true
    WHEN high > 1e300 THEN false
    ELSE CASE WHEN (greatest(a, low) - low) * buckets < high - low + 1 THEN 0
              ELSE least(floor((greatest(a, low) - low) * buckets / (high - low + 1)), buckets - 1) END
         = CASE WHEN (least(b, high) - low) * buckets < high - low + 1 THEN 0
                ELSE least(floor((least(b, high) - low) * buckets / (high - low + 1)), buckets - 1) END
  END;

CREATE FUNCTION ingest.little_endian(bytes bytea, at integer) RETURNS integer
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN get_byte(bytes, at) + (get_byte(bytes, at + 1) << 8) + (get_byte(bytes, at + 2) << 16) + (get_byte(bytes, at + 3) << 24);

-- The version of each of some runs, in their order; 0 for a run without metrics.
CREATE FUNCTION ingest.metric_versions(org uuid, run_ids uuid[]) RETURNS TABLE (version bigint)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT coalesce((SELECT m.version FROM ingest.metric_runs m WHERE m.org_id = org AND m.run_id = r.id), 0)
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, place) ORDER BY r.place;
END
$$;

-- The lowest step up to which a key has `wanted` points in blocks that lie within the bounds; Infinity
-- when that cannot be told. What begins behind it is not among the first `wanted` points.
CREATE FUNCTION ingest.metric_reach(
  org uuid, run uuid, of_key integer, from_step double precision, to_step double precision, wanted integer
) RETURNS double precision
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((
    SELECT min(c.last_step) FROM (
      SELECT b.last_step, sum(ingest.chunk_values(b.heads, of_key - b.first_key)) OVER (ORDER BY b.last_step) AS total
      FROM ingest.metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.first_key = of_key & -16 AND b.width = 16
        AND b.first_step >= from_step AND b.last_step <= to_step
    ) c
    WHERE c.total >= wanted
  ), 'Infinity');
END
$$;

-- The points of a key in a block: the block's `steps`, its `times` where they are wanted, and the key's `section`.
CREATE TYPE ingest.metric_chunk AS (seq bigint, steps bytea, times bytea, section bytea);

-- What the blocks have of one key, in the order of arrival, of those that begin after `after_seq` and may
-- have steps within the bounds; up to the one that takes it to `bytes_max` bytes.
CREATE FUNCTION ingest.metric_chunks(
  org uuid, run uuid, of_key integer, from_step double precision, to_step double precision, after_seq bigint, bytes_max bigint
) RETURNS SETOF ingest.metric_chunk
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  b record;
  entry bytea;
  chunk ingest.metric_chunk;
BEGIN
  FOR b IN
    SELECT m.first_seq, m.width, of_key - m.first_key AS slot, m.steps_end, m.axis_end, m.heads, m.data
    FROM ingest.metric_blocks m
    WHERE m.org_id = org AND m.run_id = run
      AND m.first_key IN (of_key & -16, of_key & -256, of_key & -4096) AND of_key < m.first_key + m.width
      AND m.first_seq > after_seq AND m.last_step >= from_step AND m.first_step <= to_step
    ORDER BY m.first_seq
  LOOP
    CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.heads, b.slot) = 0;
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

-- What is stored of one key in some runs, by run in the order asked for and then by arrival. Of each run
-- first a row of kind `run`: its version and, where it has the key, its id, and the number and the first
-- and last step of all its points. Then what the blocks have: `chunk`, as of metric_chunks, or with `buckets`
-- of a block that lies in one of these parts of the steps the `head`, 72 bytes in `section`; and whole
-- requests, kind `landing`, in `section`. A last row of kind `more` says that what follows `seq` in the run at `place` was left out.
-- Read are the first `points_max` points within the bounds, or, with `buckets`, all points of a run that
-- has at most `points_max`, and what a sampler needs of one that has more. Begins in the run at
-- `from_place`, counted from 1, after `after_seq`, -1 for its begin.
CREATE FUNCTION ingest.metric_series_page(
  org uuid, run_ids uuid[], of_key text, from_step double precision, to_step double precision,
  points_max integer, buckets integer, from_place integer, after_seq bigint, bytes_max bigint
) RETURNS TABLE (kind text, place integer, version bigint, key_id integer, count double precision,
                 first_step double precision, last_step double precision, seq bigint, received_us bigint,
                 steps bytea, times bytea, section bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET work_mem = '16MB' AS $$
DECLARE
  run uuid;
  sampled boolean;
  reach double precision;
  b record;
  entry bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR run, place, version, key_id, count, first_step, last_step IN
    SELECT r.id, r.place, coalesce(m.version, 0), h.key_id, h.count, h.first_step, h.last_step
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, place)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT k.key_id, p.stats[(k.key_id & 31) * 10 + 1] AS count, p.stats[(k.key_id & 31) * 10 + 10] AS first_step,
             p.stats[(k.key_id & 31) * 10 + 9] AS last_step
      FROM ingest.metric_keys k
      CROSS JOIN LATERAL (
        SELECT g.stats FROM ingest.metric_head_pages g WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
      ) p
      WHERE k.org_id = org AND k.run_id = r.id AND k.key = of_key COLLATE "C" LIMIT 1
    ) h ON true
    WHERE r.place >= from_place
    ORDER BY r.place
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
        SELECT m.first_seq, m.width, metric_series_page.key_id - m.first_key AS slot, m.steps_end, m.axis_end, m.heads, m.data,
               sampled AND m.heads IS NOT NULL
               AND ingest.in_one_bucket(m.first_step, m.last_step, metric_series_page.first_step, metric_series_page.last_step, buckets) AS short
        FROM ingest.metric_blocks m
        WHERE m.org_id = org AND m.run_id = run
          AND m.first_key IN (metric_series_page.key_id & -16, metric_series_page.key_id & -256, metric_series_page.key_id & -4096)
          AND metric_series_page.key_id < m.first_key + m.width
          AND m.first_seq > after_seq AND m.last_step >= from_step AND m.first_step <= least(to_step, reach)
        ORDER BY m.first_seq
      LOOP
        CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.heads, b.slot) = 0;
        IF b.short THEN
          kind := 'head';
          steps := NULL;
          section := substring(b.heads FROM 72 * b.slot + 1 FOR 72);
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
        kind := 'landing';
        FOR seq, received_us, section IN
          SELECT l.id, l.received_us, l.points FROM ingest.metric_landing l
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

-- What is stored of the first keys of a run that follow `after_key`: as many keys as are sure to have
-- `points_max` points within the bounds, or as are read at once. Kinds, in this order:
--   run      the run's version
--   key      a key that is read: its text and id; not on later pages
--   block    points of several keys in a block: its `steps` and `times`, the id and the length of the section
--            of each key in `keys`, four bytes each and the highest first, and these sections in `section`
--   chunk    points of one key in a block, as of metric_chunks
--   landing  a whole request in `section`
--   more     the page is full: what follows `tier`, `seq` and `first_key` was left out
--   keys     all is read of these keys, and there are more behind `key`
-- Of each key the order is that of arrival. A page begins after `after_tier`, `seq` and `first_key`, all
-- -1 to begin. At once are read at most `keys_max` keys, about `values_max` values, and one key of more
-- than `short_max` points, after the others and only as far as it is wanted.
CREATE FUNCTION ingest.metric_points_page(
  org uuid, run uuid, after_key text, from_step double precision, to_step double precision, points_max integer,
  after_tier integer, after_seq bigint, after_first_key integer,
  bytes_max bigint, keys_max integer, values_max integer, short_max integer
) RETURNS TABLE (kind text, version bigint, key text, key_id integer, tier integer, seq bigint, first_key integer,
                 received_us bigint, steps bytea, times bytea, keys bytea, section bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET work_mem = '16MB' AS $$
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
      SELECT g.stats FROM ingest.metric_head_pages g WHERE g.org_id = org AND g.run_id = run AND g.page = n.key_id >> 5 LIMIT 1
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
      FROM (SELECT i.id & -v.width AS stripe, v.width, array_agg(i.id) AS ids
            FROM unnest(ids) AS i (id) CROSS JOIN (VALUES (16), (256), (4096)) AS v (width) GROUP BY 1, 2) w
      CROSS JOIN LATERAL (
        SELECT d.first_key, d.first_seq, d.steps_end, d.axis_end, d.data FROM ingest.metric_blocks d
        WHERE d.org_id = org AND d.run_id = run AND d.first_key = w.stripe AND d.width = w.width
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
    kind := 'landing';
    tier := 3;
    first_key := -1;
    FOR seq, received_us, section IN
      SELECT l.id, l.received_us, l.points FROM ingest.metric_landing l
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

REVOKE ALL ON FUNCTION ingest.chunk_values, ingest.in_one_bucket, ingest.little_endian, ingest.metric_versions, ingest.metric_reach,
  ingest.metric_chunks, ingest.metric_series_page, ingest.metric_points_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_values, ingest.in_one_bucket, ingest.little_endian, ingest.metric_versions, ingest.metric_reach,
  ingest.metric_chunks, ingest.metric_series_page, ingest.metric_points_page TO tidemark_ingest;
