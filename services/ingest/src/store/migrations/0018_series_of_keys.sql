-- The series of several keys in one read: blocks that keys share are fetched once.

DROP FUNCTION ingest.metric_series_page;

CREATE FUNCTION ingest.metric_series_page(org uuid, run_ids uuid[], of_keys text[], from_step double precision,
  to_step double precision, points_max integer, buckets integer, from_index integer, after_tier integer,
  after_seq bigint, after_first_key integer, bytes_max bigint)
RETURNS TABLE (kind text, index integer, version bigint, place integer, tier integer, seq bigint, first_key integer,
               received_us bigint, steps bytea, times bytea, section bytea)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET work_mem = '16MB' AS $$
DECLARE
  run uuid;
  -- of the keys that the run has within the bounds, by id
  places integer[];
  ids integer[];
  counts double precision[];
  first_steps double precision[];
  last_steps double precision[];
  range_starts integer[];
  -- whether a key is wanted with the times of its points
  is_timed boolean;
  reach double precision;
  b record;
  whole bytea;
  is_open boolean;
  last_wanted integer;
  slot integer;
  sampled boolean;
  entry bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR run, index, version, places, ids, counts, first_steps, last_steps, range_starts, is_timed, section IN
    SELECT r.id, r.index, coalesce(m.version, 0), h.*
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    CROSS JOIN LATERAL (
      SELECT array_agg(f.place), array_agg(f.id), array_agg(f.count), array_agg(f.first_step), array_agg(f.last_step),
             array_agg(f.id & -16) || array_agg(f.id & -256) || array_agg(f.id & -4096),
             bool_or(buckets IS NULL OR f.count <= points_max),
             string_agg(int4send(f.place) || int4send(f.id) || float8send(f.count) || float8send(f.first_step) || float8send(f.last_step), '')
      FROM (
        SELECT a.place::integer - 1 AS place, k.key_id AS id, p.stats[(k.key_id & 31) * 10 + 1] AS count,
               p.stats[(k.key_id & 31) * 10 + 10] AS first_step, p.stats[(k.key_id & 31) * 10 + 9] AS last_step
        FROM unnest(of_keys) WITH ORDINALITY AS a (key, place)
        CROSS JOIN LATERAL (
          SELECT n.key_id FROM ingest.metric_keys n
          WHERE n.org_id = org AND n.run_id = r.id AND n.key = a.key COLLATE "C" LIMIT 1
        ) k
        CROSS JOIN LATERAL (
          SELECT g.stats FROM ingest.metric_aggregate_pages g
          WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
        ) p
        ORDER BY k.key_id
      ) f
      WHERE f.last_step >= from_step AND f.first_step <= to_step
    ) h
    WHERE r.index >= from_index
    ORDER BY r.index
  LOOP
    kind := 'run';
    RETURN NEXT;
    IF ids IS NOT NULL THEN
      reach := 'Infinity';
      IF buckets IS NULL THEN
        -- as far as the key needs that needs the furthest
        reach := 0;
        FOR i IN 1 .. cardinality(ids) LOOP
          reach := greatest(reach, CASE WHEN counts[i] > points_max
            THEN ingest.metric_reach(org, run, ids[i], from_step, to_step, points_max) ELSE 'Infinity' END);
          EXIT WHEN reach = 'Infinity';
        END LOOP;
      END IF;

      IF after_tier = 1 THEN
        -- As metric_chunks, whose rows would be copied once more on their way through here.
        FOR b IN
          SELECT m.first_seq, m.first_key, m.width, m.first_step, m.last_step, m.steps_end, m.axis_end, m.statistics, m.data
          FROM ingest.metric_blocks m
          WHERE m.org_id = org AND m.run_id = run AND m.first_key = ANY (range_starts) AND m.first_key + m.width > ids[1]
            AND m.first_seq >= after_seq AND (m.first_seq, m.first_key) > (after_seq, after_first_key)
            AND m.last_step >= from_step AND m.first_step <= least(to_step, reach)
          ORDER BY m.first_seq, m.first_key
        LOOP
          whole := NULL;
          is_open := false;
          last_wanted := width_bucket(b.first_key + b.width - 1, ids);
          FOR i IN width_bucket(b.first_key - 1, ids) + 1 .. last_wanted LOOP
            slot := ids[i] - b.first_key;
            CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, slot) = 0;
            sampled := buckets IS NOT NULL AND counts[i] > points_max;
            IF sampled AND b.statistics IS NOT NULL
               AND ingest.in_one_bucket(b.first_step, b.last_step, first_steps[i], last_steps[i], buckets) THEN
              kind := 'statistics';
              section := substring(b.statistics FROM 72 * slot + 1 FOR 72);
            ELSE
              IF whole IS NULL THEN
                -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
                whole := CASE WHEN octet_length(b.data) <= 16384 * (last_wanted - i + 1) THEN substring(b.data FROM 1) ELSE b.data END;
              END IF;
              entry := substring(whole FROM b.axis_end + 1 + 8 * slot FOR 8);
              CONTINUE WHEN ingest.little_endian(entry, 4) = 0;
              kind := 'chunk';
              section := substring(whole FROM ingest.little_endian(entry, 0) + 1 FOR ingest.little_endian(entry, 4));
              IF NOT is_open THEN
                is_open := true;
                steps := substring(whole FROM 1 FOR b.steps_end);
                IF is_timed THEN
                  times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
                END IF;
                bytes_max := bytes_max - octet_length(steps) - coalesce(octet_length(times), 0);
              END IF;
            END IF;
            place := places[i];
            RETURN NEXT;
            bytes_max := bytes_max - octet_length(section);
            steps := NULL;
            times := NULL;
          END LOOP;
          seq := b.first_seq;
          first_key := b.first_key;
          EXIT WHEN bytes_max <= 0;
        END LOOP;
        place := NULL;
        IF bytes_max > 0 THEN
          after_tier := 2;
          after_seq := -1;
        END IF;
      END IF;

      -- Their points arrived after those of the blocks, so of equal steps theirs come later.
      IF after_tier = 2 THEN
        kind := 'segment';
        FOR seq, received_us, section IN
          SELECT l.id, l.received_us, l.points FROM ingest.metric_segments l
          WHERE l.org_id = org AND l.run_id = run AND l.id > after_seq
            AND l.last_step >= from_step AND l.first_step <= to_step AND l.first_step < reach
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
        tier := after_tier;
        RETURN NEXT;
        RETURN;
      END IF;
    END IF;
    seq := NULL;
    first_key := NULL;
    after_tier := 1;
    after_seq := -1;
    after_first_key := -1;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_series_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_series_page TO tidemark_ingest;
COMMENT ON FUNCTION ingest.metric_series_page IS
  'Returns what is stored of some keys in some runs, by run in the order asked for. Of each run first a row of kind run: '
  'its version and, in section, of each key that it has within the bounds its place among those that are asked for, from '
  '0, and its id, four bytes each, and the number, the first and the last step of all its points, doubles; all highest '
  'byte first. Then its blocks in the order of arrival, of each block the keys by id: chunk: the section of the key at '
  'place, with the block''s steps and times in the first row of a block; or with buckets, of a block that lies in one of '
  'these parts of the steps of the key, statistics: the chunk statistics in section. Blocks have no times where all '
  'keys are sampled. Then segment: whole requests in section. A last row of kind more says that what follows tier, seq '
  'and first_key in the run at index was left out. Read are the first points_max points within the bounds of each key, '
  'or, with buckets, all points of a key that has at most points_max, and what a sampler needs of one that has more. '
  'Begins in the run at from_index, counted from 1, after after_tier, after_seq and after_first_key; 1, -1 and -1 for '
  'its begin.';
