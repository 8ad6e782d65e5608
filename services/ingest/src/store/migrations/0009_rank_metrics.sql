-- Rank metrics: what each process of a distributed training reported. A row per request and up to 64 of
-- its keys, with the values packed: a row per value would cost ten times as much. Requests repeat the
-- same keys again and again, so a row names its keys by the number of a set, and a reader of one key
-- looks at no row that does not have it. Of a (key, step, rank) only the newest value is ever read, so a
-- request that comes again takes the place of the first. Rows that have come to rest are folded: thousands
-- of them become a block, in which the values of each key lie side by side.

CREATE TABLE ingest.rank_metric_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  sets integer NOT NULL,
  PRIMARY KEY (org_id, run_id)
) WITH (fillfactor = 50);

COMMENT ON COLUMN ingest.rank_metric_runs.sets IS 'how many sets the run has, and so the number of the next one; locked by who makes one';

CREATE TABLE ingest.rank_metric_sets (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  set_id integer NOT NULL,
  digest bytea,
  world_size smallint NOT NULL,
  keys smallint NOT NULL,
  PRIMARY KEY (org_id, run_id, set_id)
);

COMMENT ON TABLE ingest.rank_metric_sets IS
  'keys that were reported together in a world of one size, at most 64. A run whose requests hardly ever repeat their keys gets pages instead of more sets: every key lies in one page, and rows have values for any of its keys';
COMMENT ON COLUMN ingest.rank_metric_sets.digest IS 'the first 16 bytes of SHA-256 of world size and keys; null: a page';
COMMENT ON COLUMN ingest.rank_metric_sets.keys IS 'how many keys it has; a page takes more, up to 64';

CREATE UNIQUE INDEX rank_metric_sets_digest ON ingest.rank_metric_sets (org_id, run_id, digest) WHERE digest IS NOT NULL;

CREATE TABLE ingest.rank_metric_keys (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  set_id integer NOT NULL,
  slot smallint NOT NULL,
  world_size smallint NOT NULL,
  is_page boolean NOT NULL,
  PRIMARY KEY (org_id, run_id, key, set_id)
);

COMMENT ON COLUMN ingest.rank_metric_keys.slot IS 'place of the key in the set, from 0';

CREATE TABLE ingest.rank_metric_rows (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  step double precision NOT NULL,
  received_us bigint NOT NULL,
  sent_us bigint,
  weight double precision,
  set_id integer NOT NULL,
  arrival integer NOT NULL,
  rank smallint NOT NULL,
  local_rank smallint,
  first_slot smallint NOT NULL,
  packed bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, set_id, step, rank, arrival)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN ingest.rank_metric_rows.received_us IS 'microseconds since the Unix epoch: of two values of one key, step and rank the later one counts';
COMMENT ON COLUMN ingest.rank_metric_rows.sent_us IS 'the client''s time in the same unit, null when it sent none';
COMMENT ON COLUMN ingest.rank_metric_rows.weight IS 'null: 1';
COMMENT ON COLUMN ingest.rank_metric_rows.local_rank IS 'null: the rank';
COMMENT ON COLUMN ingest.rank_metric_rows.arrival IS 'of a set 0; of a page from 1, the low bits of received_us, because two rows of it may have different keys';
COMMENT ON COLUMN ingest.rank_metric_rows.packed IS 'values as float8send writes them, from first_slot on; in a page, NaN where there is none';

CREATE TABLE ingest.rank_metric_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  set_id integer NOT NULL,
  last_step double precision NOT NULL,
  block_id uuid NOT NULL,
  first_step double precision NOT NULL,
  entries integer NOT NULL,
  step_count integer NOT NULL,
  step_list double precision[] NOT NULL,
  steps bytea NOT NULL,
  ranks bytea NOT NULL,
  local_ranks bytea NOT NULL,
  weights bytea NOT NULL,
  received_us bytea NOT NULL,
  sent_us bytea NOT NULL,
  set_values bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, set_id, last_step, block_id)
);

COMMENT ON TABLE ingest.rank_metric_blocks IS
  'rows of a set, folded: each column but the values has an entry per row in the order of step and rank, as the send functions write them. Blocks overlap only where rows came late';
COMMENT ON COLUMN ingest.rank_metric_blocks.step_list IS 'the different steps, ascending';
COMMENT ON COLUMN ingest.rank_metric_blocks.weights IS 'a byte 0 for weight 1, or a byte 1 and the weight';
COMMENT ON COLUMN ingest.rank_metric_blocks.sent_us IS 'the lowest bigint where the client sent no time';
COMMENT ON COLUMN ingest.rank_metric_blocks.set_values IS 'all values of slot 0, then all of slot 1 and so on';

-- Read in slices, a slot at a time; the other columns get smaller by compression, values do not.
ALTER TABLE ingest.rank_metric_blocks ALTER COLUMN set_values SET STORAGE EXTERNAL;

-- At most 512 bytes: never compressed nor moved out of the row.
ALTER TABLE ingest.rank_metric_rows ALTER COLUMN packed SET STORAGE PLAIN;

SELECT platform.fence('ingest.rank_metric_runs');
SELECT platform.fence('ingest.rank_metric_sets');
SELECT platform.fence('ingest.rank_metric_keys');
SELECT platform.fence('ingest.rank_metric_rows');
SELECT platform.fence('ingest.rank_metric_blocks');
GRANT SELECT, INSERT, UPDATE ON ingest.rank_metric_runs, ingest.rank_metric_sets, ingest.rank_metric_rows TO tidemark_ingest;
GRANT DELETE ON ingest.rank_metric_rows TO tidemark_ingest;
GRANT SELECT, INSERT ON ingest.rank_metric_keys, ingest.rank_metric_blocks TO tidemark_ingest;

-- Where the keys of a request have their places, in the order of the keys; makes the places that there
-- are not yet. Up to `sets_max` sets are made for keys that come together, then pages.
CREATE FUNCTION ingest.place_rank_keys(org uuid, run uuid, world smallint, request_keys text[], sets_max integer)
  RETURNS TABLE (set_id integer, slot smallint, is_page boolean)
  LANGUAGE plpgsql AS $$
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

-- Stores one request, in one round trip; outcomes as of ingest.append_log_lines. The values come as
-- rows: of each the set, the first slot and the values from there on. Fails with unique_violation where
-- a row of a page would take the place of another.
CREATE FUNCTION ingest.append_rank_metrics(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  at_step double precision, at_rank smallint, at_local_rank smallint, rank_weight double precision,
  client_us bigint, value_count integer,
  sets integer[], first_slots smallint[], pages boolean[], packed_values bytea[],
  OUT outcome text, OUT inserted integer, OUT run_project uuid
) LANGUAGE plpgsql AS $$
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

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(value_count));
  END IF;
  outcome := 'inserted';
  inserted := value_count;
END
$$;

-- Whether a row of a page has a value for the slot. A plain expression, so that it is inlined.
CREATE FUNCTION ingest.has_rank_value(packed bytea, first_slot smallint, slot smallint) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN slot >= first_slot AND octet_length(packed) > 8 * (slot - first_slot)
    AND substring(packed FROM 8 * (slot - first_slot) + 1 FOR 8) <> '\x7ff8000000000000'::bytea;

-- Folds rows of a set that nobody has written for `rest_seconds`: first those behind all blocks, so that blocks
-- do not overlap, and then those that came late; each time those of the lowest steps, about `entries_max`
-- of them, all that rest of a step together; none where they are fewer than `entries_min`. Rows that came
-- late stay rows where `overlaps_max` blocks are at their steps already: rows replace each other, blocks
-- do not, so what a reader finds at a step stays bounded however often it is written. Returns how many
-- were folded. A row that is written again meanwhile stays; so do rows of pages, which may have different
-- keys. Who comes while another folds the set does nothing.
CREATE FUNCTION ingest.fold_rank_rows(
  org uuid, run uuid, fold_set integer, rest_seconds double precision,
  entries_min integer, entries_max integer, overlaps_max integer
) RETURNS integer
  LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  until_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000 - rest_seconds * 1000000)::bigint;
  behind double precision;
  resting bigint;
  low_step double precision;
  top_step double precision;
  folded integer;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('rank ' || run::text || org::text, fold_set)) THEN
    RETURN 0;
  END IF;
  SELECT coalesce(max(b.last_step), -1) INTO behind FROM ingest.rank_metric_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.set_id = fold_set;
  SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
    SELECT r.step FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = fold_set AND r.step > behind
      AND r.received_us < until_us AND r.arrival = 0
    ORDER BY r.step, r.rank LIMIT entries_max
  ) r;
  IF resting < entries_min THEN
    SELECT count(*), min(r.step), max(r.step) INTO resting, low_step, top_step FROM (
      SELECT r.step FROM ingest.rank_metric_rows r
      WHERE r.org_id = org AND r.run_id = run AND r.set_id = fold_set AND r.step <= behind
        AND r.received_us < until_us AND r.arrival = 0
      ORDER BY r.step, r.rank LIMIT entries_max
    ) r;
    IF resting < entries_min OR overlaps_max <= (
      SELECT count(*) FROM ingest.rank_metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.set_id = fold_set
        AND b.last_step >= low_step AND b.first_step <= top_step
    ) THEN
      RETURN 0;
    END IF;
  END IF;

  WITH gone AS MATERIALIZED (
    DELETE FROM ingest.rank_metric_rows r
    WHERE r.org_id = org AND r.run_id = run AND r.set_id = fold_set AND r.step BETWEEN low_step AND top_step
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
  SELECT org, run, fold_set, gen_random_uuid(), min(r.step), max(r.step), count(*), count(DISTINCT r.step),
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
  RETURNING entries INTO folded;
  RETURN coalesce(folded, 0);
END
$$;

-- The sets that have the key, and a value of it between the steps.
CREATE FUNCTION ingest.rank_sets_of_key(org uuid, run uuid, of_key text, from_step double precision, to_step double precision)
  RETURNS TABLE (set_id integer, slot smallint, world_size smallint, is_page boolean)
  LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  SELECT k.set_id, k.slot, k.world_size, k.is_page
  FROM ingest.rank_metric_keys k CROSS JOIN LATERAL (
    (SELECT FROM ingest.rank_metric_blocks b
     WHERE b.org_id = org AND b.run_id = run AND b.set_id = k.set_id AND b.last_step >= from_step AND b.first_step <= to_step
       AND (b.last_step <= to_step OR b.first_step >= from_step
            OR EXISTS (SELECT FROM unnest(b.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step))
     ORDER BY b.last_step LIMIT 1)
    UNION ALL
    (SELECT FROM ingest.rank_metric_rows r
     WHERE r.org_id = org AND r.run_id = run AND r.set_id = k.set_id AND r.step BETWEEN from_step AND to_step
       AND (NOT k.is_page OR ingest.has_rank_value(r.packed, r.first_slot, k.slot))
     ORDER BY r.step DESC LIMIT 1)
    LIMIT 1
  ) found
  WHERE k.org_id = org AND k.run_id = run AND k.key = of_key
  ORDER BY k.set_id
$$;

-- A step from which on, up to `to_step`, the sets have at least `steps_max` steps, or all between the
-- two: not always the highest such, so the caller drops what is too much, but never much lower.
CREATE FUNCTION ingest.rank_step_floor(
  org uuid, run uuid, sets integer[], slots smallint[], pages boolean[],
  from_step double precision, to_step double precision, steps_max integer
) RETURNS double precision
  LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  lowest double precision;
  floor_step double precision := from_step;
  chain_steps bigint;
  chain_set integer;
  link record;
BEGIN
  -- Among the blocks of each set: down a chain of blocks that do not overlap, whose steps therefore add up.
  FOREACH chain_set IN ARRAY sets LOOP
    lowest := 'Infinity';
    chain_steps := 0;
    FOR link IN
      SELECT b.first_step, b.last_step, b.step_list, b.first_step >= from_step AND b.last_step <= to_step AS is_inside,
             CASE WHEN b.first_step >= from_step AND b.last_step <= to_step THEN b.step_count
                  ELSE (SELECT count(*) FROM unnest(b.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step) END
             AS steps
      FROM ingest.rank_metric_blocks b
      WHERE b.org_id = org AND b.run_id = run AND b.set_id = chain_set AND b.last_step >= floor_step AND b.first_step <= to_step
      ORDER BY b.last_step DESC
    LOOP
      CONTINUE WHEN link.last_step >= lowest;
      IF chain_steps + link.steps >= steps_max THEN
        floor_step := greatest(floor_step, CASE WHEN link.is_inside THEN link.step_list[link.steps - (steps_max - chain_steps) + 1] ELSE (
          SELECT l.step FROM unnest(link.step_list) AS l (step) WHERE l.step BETWEEN from_step AND to_step
          ORDER BY l.step DESC OFFSET steps_max - chain_steps - 1 LIMIT 1) END);
        EXIT;
      END IF;
      lowest := link.first_step;
      chain_steps := chain_steps + link.steps;
    END LOOP;
  END LOOP;

  -- Among rows, of those that are left. With few sets from step to step, however many rows each has; with many, which share the
  -- ranks of a step among them, it is quicker to read each set on its own.
  IF cardinality(sets) > 8 THEN
    SELECT min(n.step) INTO lowest FROM (
      SELECT DISTINCT u.step
      FROM unnest(sets, slots, pages) AS s (set_id, slot, is_page) CROSS JOIN LATERAL (
        SELECT DISTINCT r.step FROM ingest.rank_metric_rows r
        WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id AND r.step BETWEEN floor_step AND to_step
          AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
        ORDER BY r.step DESC LIMIT steps_max
      ) u
      ORDER BY u.step DESC LIMIT steps_max
    ) n HAVING count(*) = steps_max;
  ELSE
    WITH RECURSIVE newest (step, n) AS (
      SELECT 'Infinity'::double precision, 0
      UNION ALL
      SELECT (
        SELECT max(u.step)
        FROM unnest(sets, slots, pages) AS s (set_id, slot, is_page) CROSS JOIN LATERAL (
          SELECT r.step FROM ingest.rank_metric_rows r
          WHERE r.org_id = org AND r.run_id = run AND r.set_id = s.set_id
            AND r.step >= floor_step AND r.step <= to_step AND r.step < b.step
            AND (NOT s.is_page OR ingest.has_rank_value(r.packed, r.first_slot, s.slot))
          ORDER BY r.step DESC LIMIT 1
        ) u
      ), b.n + 1
      FROM newest b WHERE b.step IS NOT NULL AND b.n < steps_max
    )
    SELECT n.step INTO lowest FROM newest n WHERE n.n = steps_max;
  END IF;
  RETURN greatest(floor_step, lowest);
END
$$;

-- The values of a key between two steps, by set: columns of one length in the order of step and rank. First
-- the blocks, ascending, which may have some values outside of the two steps, then the rows.
CREATE FUNCTION ingest.rank_values(
  org uuid, run uuid, sets integer[], slots smallint[], pages boolean[], from_step double precision, to_step double precision
) RETURNS TABLE (place integer, steps bytea, ranks bytea, key_values bytea, weights bytea, received_us bytea)
  LANGUAGE sql STABLE SET enable_seqscan = off AS $$
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

REVOKE ALL ON FUNCTION ingest.place_rank_keys, ingest.append_rank_metrics, ingest.has_rank_value,
  ingest.fold_rank_rows, ingest.rank_sets_of_key, ingest.rank_step_floor, ingest.rank_values FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.place_rank_keys, ingest.append_rank_metrics, ingest.has_rank_value,
  ingest.fold_rank_rows, ingest.rank_sets_of_key, ingest.rank_step_floor, ingest.rank_values TO tidemark_ingest;
