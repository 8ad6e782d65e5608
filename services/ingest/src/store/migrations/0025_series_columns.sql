-- Series as columns of buckets: what is known of the keys first, then the points of each key within its own bounds.

CREATE FUNCTION ingest.metric_facts(org uuid, run_ids uuid[], of_keys text[])
RETURNS TABLE (index integer, version bigint, facts bytea)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT r.index::integer, coalesce(m.version, 0), h.facts
    FROM unnest(run_ids) WITH ORDINALITY AS r (id, index)
    LEFT JOIN LATERAL (
      SELECT v.version FROM ingest.metric_runs v WHERE v.org_id = org AND v.run_id = r.id LIMIT 1
    ) m ON true
    CROSS JOIN LATERAL (
      SELECT string_agg(int4send(a.place::integer - 1) || int4send(k.key_id) || float8send(p.stats[(k.key_id & 31) * 10 + 1])
                        || float8send(p.stats[(k.key_id & 31) * 10 + 10]) || float8send(p.stats[(k.key_id & 31) * 10 + 9]), '') AS facts
      FROM unnest(of_keys) WITH ORDINALITY AS a (key, place)
      CROSS JOIN LATERAL (
        SELECT n.key_id FROM ingest.metric_keys n
        WHERE n.org_id = org AND n.run_id = r.id AND n.key = a.key COLLATE "C" LIMIT 1
      ) k
      CROSS JOIN LATERAL (
        SELECT g.stats FROM ingest.metric_aggregate_pages g
        WHERE g.org_id = org AND g.run_id = r.id AND g.page = k.key_id >> 5 LIMIT 1
      ) p
    ) h
    ORDER BY r.index;
END
$$;
COMMENT ON FUNCTION ingest.metric_facts IS
  'Returns what is known of some keys in some runs without reading points, by run in the order asked for: the version of '
  'the run and, in facts, of each key that it has the place among those that are asked for, from 0, and the id, four '
  'bytes each, and the number, the first and the last step of its points, doubles; all highest byte first.';
REVOKE ALL ON FUNCTION ingest.metric_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_facts TO tidemark_ingest;

CREATE FUNCTION ingest.in_one_part(a double precision, b double precision, low double precision, span double precision, buckets integer)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN span = 0 THEN true
  WHEN span > 1e300 OR low > 1e300 OR a < low THEN false
  ELSE (CASE WHEN (a - low) * buckets < span THEN 0 ELSE least(floor((a - low) * buckets / span), buckets - 1) END)
     = (CASE WHEN (b - low) * buckets < span THEN 0 ELSE least(floor((b - low) * buckets / span), buckets - 1) END)
END;
COMMENT ON FUNCTION ingest.in_one_part IS
  'Tells whether the steps a and b, from low on, are in one of buckets equal parts of span, by the arithmetic of the '
  'sampler; false where PostgreSQL would refuse to calculate.';
REVOKE ALL ON FUNCTION ingest.in_one_part FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.in_one_part TO tidemark_ingest;

CREATE FUNCTION ingest.chunk_step(statistics bytea, at integer)
RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (ingest.little_endian(statistics, at + 4)::bigint << 32) | (ingest.little_endian(statistics, at)::bigint & 4294967295);
COMMENT ON FUNCTION ingest.chunk_step IS
  'Reads the bits of a step at a byte of chunk statistics. Steps are never negative, so their bits are in the order of the steps.';
REVOKE ALL ON FUNCTION ingest.chunk_step FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.chunk_step TO tidemark_ingest;

CREATE FUNCTION ingest.metric_columns_page(org uuid, run_ids uuid[], to_steps double precision[], entry_runs integer[],
  entry_keys integer[], key_firsts double precision[], key_lasts double precision[], entry_modes integer[],
  lows double precision[], spans double precision[], from_step double precision, buckets integer, points_max integer, with_edges boolean,
  from_index integer, after_tier integer, after_seq bigint, after_first_key integer, bytes_max bigint)
RETURNS TABLE (kind text, index integer, entry integer, tier integer, seq bigint, first_key integer, received_us bigint,
               steps bytea, times bytea, section bytea)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET work_mem = '16MB' AS $$
DECLARE
  run uuid;
  to_step double precision;
  reach double precision;
  -- of the entries of the run, by key id
  numbers integer[];
  ids integer[];
  modes integer[];
  range_starts integer[];
  is_timed boolean;
  edge_seqs bigint[];
  b record;
  whole bytea;
  is_open boolean;
  last_wanted integer;
  slot integer;
  at integer;
  total integer;
  found bytea;
BEGIN
  PERFORM platform.enter_org(org);
  FOR index, numbers, ids, modes IN
    SELECT e.run, array_agg(e.n::integer ORDER BY e.n), array_agg(e.key ORDER BY e.n), array_agg(e.mode ORDER BY e.n)
    FROM unnest(entry_runs, entry_keys, entry_modes) WITH ORDINALITY AS e (run, key, mode, n)
    WHERE e.run >= from_index GROUP BY e.run ORDER BY e.run
  LOOP
    run := run_ids[index];
    to_step := to_steps[index];
    SELECT array_agg(i.id & -16) || array_agg(i.id & -256) || array_agg(i.id & -4096) INTO range_starts FROM unnest(ids) AS i (id);
    FOR i IN 1 .. cardinality(ids) LOOP
      IF modes[i] = 3 THEN
        -- Of a part of the steps it is known that it has more points than buckets when the blocks inside have.
        total := 0;
        FOR at IN
          SELECT ingest.chunk_values(m.statistics, ids[i] - m.first_key) FROM ingest.metric_blocks m
          WHERE m.org_id = org AND m.run_id = run AND m.first_key = ids[i] & -16 AND m.width = 16
            AND m.first_step >= from_step AND m.last_step <= to_step
        LOOP
          total := total + at;
          EXIT WHEN total > buckets;
        END LOOP;
        modes[i] := CASE WHEN total > buckets THEN 2 ELSE 1 END;
      END IF;
    END LOOP;
    is_timed := 1 = ANY (modes);
    reach := to_step;
    IF points_max IS NOT NULL THEN
      -- as far as the key needs that needs the furthest
      reach := 0;
      FOR i IN 1 .. cardinality(ids) LOOP
        reach := greatest(reach, ingest.metric_reach(org, run, ids[i], from_step, to_step, points_max));
        EXIT WHEN reach = 'Infinity';
      END LOOP;
      reach := least(reach, to_step);
    END IF;
    edge_seqs := NULL;
    IF with_edges THEN
      SELECT array_agg(s.first_seq) INTO edge_seqs
      FROM unnest(ids) AS i (id)
      CROSS JOIN LATERAL (
        (SELECT m.first_seq FROM ingest.metric_blocks m
         WHERE m.org_id = org AND m.run_id = run AND m.first_key = i.id & -16 AND m.width = 16 AND m.last_step < from_step
           AND ingest.chunk_values(m.statistics, i.id - m.first_key) > 0
         ORDER BY ingest.chunk_step(m.statistics, 72 * (i.id - m.first_key) + 24) DESC, m.first_seq DESC LIMIT 1)
        UNION ALL
        (SELECT m.first_seq FROM ingest.metric_blocks m
         WHERE m.org_id = org AND m.run_id = run AND m.first_key = i.id & -16 AND m.width = 16 AND m.first_step > to_step
           AND ingest.chunk_values(m.statistics, i.id - m.first_key) > 0
         ORDER BY ingest.chunk_step(m.statistics, 72 * (i.id - m.first_key) + 8), m.first_seq LIMIT 1)
      ) s;
    END IF;

    IF after_tier = 1 THEN
      FOR b IN
        SELECT m.first_seq, m.first_key, m.width, m.first_step, m.last_step, m.points, m.steps_end, m.axis_end, m.statistics, m.sums, m.data
        FROM ingest.metric_blocks m
        WHERE m.org_id = org AND m.run_id = run AND m.first_key = ANY (range_starts) AND m.first_key + m.width > ids[1]
          AND m.first_seq >= after_seq AND (m.first_seq, m.first_key) > (after_seq, after_first_key)
          AND (m.last_step >= from_step AND m.first_step <= reach
               OR with_edges AND (m.width > 16 OR m.first_seq = ANY (edge_seqs)))
        ORDER BY m.first_seq, m.first_key
      LOOP
        whole := NULL;
        is_open := false;
        last_wanted := width_bucket(b.first_key + b.width - 1, ids);
        FOR i IN width_bucket(b.first_key - 1, ids) + 1 .. last_wanted LOOP
          slot := ids[i] - b.first_key;
          CONTINUE WHEN b.width = 16 AND ingest.chunk_values(b.statistics, slot) = 0;
          at := numbers[i];
          IF modes[i] = 2 AND octet_length(b.sums) >= 16 * (slot + 1)
             AND greatest(b.first_step, key_firsts[at]) >= from_step AND least(b.last_step, key_lasts[at]) <= to_step
             AND ingest.in_one_part(greatest(b.first_step, key_firsts[at]), least(b.last_step, key_lasts[at]), lows[at], spans[at], buckets) THEN
            kind := 'statistics';
            section := substring(b.statistics FROM 72 * slot + 1 FOR 72) || substring(b.sums FROM 16 * slot + 1 FOR 16);
            bytes_max := bytes_max - octet_length(section);
          ELSE
            IF whole IS NULL THEN
              -- To look for a key in stored bytes costs about as much as to read sixteen kilobytes of them.
              whole := CASE WHEN octet_length(b.data) <= 16384 * (last_wanted - i + 1) THEN substring(b.data FROM 1) ELSE b.data END;
            END IF;
            found := substring(whole FROM b.axis_end + 1 + 8 * slot FOR 8);
            CONTINUE WHEN ingest.little_endian(found, 4) = 0;
            kind := 'chunk';
            section := substring(whole FROM ingest.little_endian(found, 0) + 1 FOR ingest.little_endian(found, 4));
            IF NOT is_open THEN
              is_open := true;
              steps := substring(whole FROM 1 FOR b.steps_end);
              IF is_timed THEN
                times := substring(whole FROM b.steps_end + 1 FOR b.axis_end - b.steps_end);
              END IF;
              bytes_max := bytes_max - octet_length(steps) - coalesce(octet_length(times), 0);
            END IF;
            -- To decode a point takes time however few bytes it has.
            bytes_max := bytes_max - greatest(octet_length(section), 4 * b.points);
          END IF;
          entry := at;
          RETURN NEXT;
          steps := NULL;
          times := NULL;
        END LOOP;
        seq := b.first_seq;
        first_key := b.first_key;
        EXIT WHEN bytes_max <= 0;
      END LOOP;
      entry := NULL;
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
          AND (with_edges OR l.last_step >= from_step AND l.first_step <= reach)
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
    seq := NULL;
    first_key := NULL;
    after_tier := 1;
    after_seq := -1;
    after_first_key := -1;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.metric_columns_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.metric_columns_page TO tidemark_ingest;
COMMENT ON FUNCTION ingest.metric_columns_page IS
  'Returns what is stored of entries, each a key of a run, which come by run and key id: entry_runs are indexes into '
  'run_ids, from 1, and entries have numbers from 1. Of each run first its blocks in the order of arrival, of each block the '
  'entries: chunk: the section of the key, with the block''s steps and, where some entry is wanted with them, times in the '
  'first row of a block; or, of a block that lies in one of buckets equal parts of span from low on, statistics: the '
  'chunk statistics and the sum in section. Then segment: whole requests in section. A last row of kind more says that what '
  'follows tier, seq and first_key in the run at index was left out. Modes: 0 points without times, 1 with times, 2 '
  'statistics where they suffice, 3 the same where the blocks within the steps are sure to have more points than buckets, '
  'otherwise as 1. Read are points from from_step to the to_step of their run, of each entry at least the first points_max '
  'or without it all; with edges also the point before and the one after. Begins in the run at from_index, after after_tier, after_seq and after_first_key; 1, 1, -1 and -1 for the begin of all.';
