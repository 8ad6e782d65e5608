-- Console lines in blocks instead of a row per line, in two tiers as metrics have them. A landing row
-- is one accepted request; a compactor merges the landing rows of a stream into blocks of several
-- hundred lines. A reader merges both tiers in one statement.

-- Up to 8 KB a row stay in their page: they live for seconds, and moving them out and back costs more.
CREATE TABLE ingest.log_landing (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint NOT NULL,
  received_us bigint NOT NULL,
  first_line bigint NOT NULL,
  last_line bigint NOT NULL,
  message_bytes integer NOT NULL,
  lines smallint NOT NULL,
  stream text COLLATE "C" NOT NULL CHECK (stream IN ('stdout', 'stderr')),
  block bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, stream, id)
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN ingest.log_landing.id IS 'ascends with time, a multiple of 64: the lines have the ids from it on, in the order of the request';
COMMENT ON COLUMN ingest.log_landing.received_us IS 'microseconds since the Unix epoch: when the lines were received';
COMMENT ON COLUMN ingest.log_landing.block IS 'a block of the log codec, ids from 0, without times of arrival';
ALTER TABLE ingest.log_landing ALTER COLUMN block SET STORAGE EXTERNAL;

-- Blocks of one level of a stream do not overlap: all lines of one come before all lines of the next,
-- by (line number, id). So a place in the stream lies in at most one block of each level, and there
-- are few levels.
CREATE TABLE ingest.log_blocks (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  first_line bigint NOT NULL,
  first_id bigint NOT NULL,
  last_line bigint NOT NULL,
  last_id bigint NOT NULL,
  lines integer NOT NULL,
  message_bytes integer NOT NULL,
  level smallint NOT NULL,
  stream text COLLATE "C" NOT NULL CHECK (stream IN ('stdout', 'stderr')),
  block bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, stream, level, first_line, first_id)
);

COMMENT ON COLUMN ingest.log_blocks.block IS 'a block of the log codec';

-- What was asked to be compacted: a note that a write leaves in its own transaction, which no other
-- write waits for. The worker takes notes and makes work of them.
CREATE TABLE ingest.compaction_marks (
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  part text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, kind, run_id, part, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN ingest.compaction_marks.kind IS 'what is compacted: logs';
COMMENT ON COLUMN ingest.compaction_marks.part IS 'the part of the run that is compacted as one: of logs, the stream';
COMMENT ON COLUMN ingest.compaction_marks.id IS 'the landing row that came with the mark';
COMMENT ON COLUMN ingest.compaction_marks.due_at IS 'when to look';

-- What the compactor looks after. A row stays while marks come, and some time longer.
CREATE TABLE ingest.compaction_work (
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL,
  run_id uuid NOT NULL,
  part text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL,
  marked_at timestamptz NOT NULL,
  claimed_until timestamptz NOT NULL DEFAULT '-infinity',
  fence uuid,
  failures integer NOT NULL DEFAULT 0,
  PRIMARY KEY (org_id, kind, run_id, part)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

COMMENT ON COLUMN ingest.compaction_work.due_at IS 'when to look; of claimed work, when the claim runs out unless a mark says earlier';
COMMENT ON COLUMN ingest.compaction_work.marked_at IS 'when its latest mark was taken';
COMMENT ON COLUMN ingest.compaction_work.fence IS 'who claimed it last: a new one at each claim, which every effect of the work must show';
COMMENT ON COLUMN ingest.compaction_work.failures IS 'how often in a row the work failed';

CREATE INDEX compaction_work_due ON ingest.compaction_work (kind, due_at);

-- The lines that there are, cut into blocks as large as a compactor's. Only here does SQL write blocks, in
-- the codec's plain arrangement; PostgreSQL compresses them, as the codec does not.
ALTER TABLE ingest.log_lines NO FORCE ROW LEVEL SECURITY;

INSERT INTO ingest.log_blocks
  (org_id, run_id, stream, level, first_line, first_id, last_line, last_id, lines, message_bytes, block)
SELECT s.org_id, s.run_id, s.stream, 0,
       (array_agg(s.line_number ORDER BY s.line_number, s.id))[1],
       (array_agg(s.id ORDER BY s.line_number, s.id))[1],
       (array_agg(s.line_number ORDER BY s.line_number DESC, s.id DESC))[1],
       (array_agg(s.id ORDER BY s.line_number DESC, s.id DESC))[1],
       count(*), sum(octet_length(s.message)),
       '\x02'::bytea || string_agg(
         int8send(s.line_number) || int8send(s.id)
         || int8send((extract(epoch FROM s.created_at) * 1000000)::bigint)
         || int8send(coalesce((extract(epoch FROM s.sent_at) * 1000000)::bigint, -9223372036854775808))
         || int4send(octet_length(s.message)) || convert_to(s.message, 'UTF8'),
         ''::bytea ORDER BY s.line_number, s.id)
FROM (
  SELECT l.*, sum(octet_length(l.message) + 32)
                OVER (PARTITION BY l.org_id, l.run_id, l.stream ORDER BY l.line_number, l.id) / 98304 AS piece
  FROM ingest.log_lines l
) s
GROUP BY s.org_id, s.run_id, s.stream, s.piece;

DROP FUNCTION ingest.append_log_lines;
DROP TABLE ingest.log_lines;
ALTER TABLE ingest.log_blocks ALTER COLUMN block SET STORAGE EXTERNAL;

SELECT platform.fence('ingest.log_landing');
SELECT platform.fence('ingest.log_blocks');
SELECT platform.fence('ingest.compaction_marks');
SELECT platform.fence('ingest.compaction_work');

GRANT USAGE ON SCHEMA ingest TO tidemark_ingest_worker;
GRANT SELECT, INSERT ON ingest.log_landing TO tidemark_ingest;
GRANT SELECT ON ingest.log_blocks TO tidemark_ingest;
GRANT INSERT ON ingest.compaction_marks TO tidemark_ingest;
-- The worker sees all work, but lines only of the organization that it enters.
GRANT SELECT, DELETE ON ingest.log_landing TO tidemark_ingest_worker;
GRANT SELECT, INSERT, DELETE ON ingest.log_blocks TO tidemark_ingest_worker;
GRANT SELECT, DELETE ON ingest.compaction_marks TO tidemark_ingest_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ingest.compaction_work TO tidemark_ingest_worker;
SELECT platform.unfence_for('ingest.compaction_marks', 'tidemark_ingest_worker');
SELECT platform.unfence_for('ingest.compaction_work', 'tidemark_ingest_worker');

-- Stores one request of console lines, in one round trip; outcomes as of ingest.append_metrics. A
-- landing id that is taken fails the transaction. `mark_seconds`: leave a mark that is due in so many
-- seconds; null: leave none. Takes no lock that a compactor ever holds.
CREATE FUNCTION ingest.append_log_lines(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  of_stream text, landing_id bigint, lowest_line bigint, highest_line bigint,
  line_count integer, text_bytes integer, line_block bytea, mark_seconds double precision,
  OUT outcome text, OUT inserted integer, OUT run_project uuid
) LANGUAGE plpgsql AS $$
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

  INSERT INTO ingest.log_landing
    (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
  VALUES (org, run, of_stream, landing_id, (extract(epoch FROM now()) * 1000000)::bigint,
          lowest_line, highest_line, line_count, text_bytes, line_block);
  IF mark_seconds IS NOT NULL THEN
    INSERT INTO ingest.compaction_marks (org_id, kind, run_id, part, id, due_at)
    VALUES (org, 'logs', run, of_stream, landing_id, now() + make_interval(secs => mark_seconds));
  END IF;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(line_count));
  END IF;
  outcome := 'inserted';
  inserted := line_count;
END
$$;

-- The segments, landing rows and blocks, that may hold lines after a place, in the order of their
-- first line; `from_line` and `from_id` are the first place of the segment that was read last, both
-- -1 to begin. They end where no line behind can be among the first `lines_max`, or where their bytes
-- suffice; what says that there are more is a last row without a block, with the place before which
-- no line was left out. One statement, so one snapshot: a line that is being moved between the tiers
-- shows exactly once. Of each level only the block at the place and the next `blocks_max` are looked
-- at, so the cost does not grow with the stream; of landing rows all that wait. One plan is right for
-- all values, and planning at each call would take three times as long as the rest.
CREATE FUNCTION ingest.log_segments_after(
  org uuid, run uuid, of_stream text, after_line bigint, after_id bigint, from_line bigint, from_id bigint,
  lines_max bigint, bytes_max bigint, blocks_max integer
) RETURNS TABLE (first_line bigint, first_id bigint, base_id bigint, base_us bigint, block bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
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
        FROM ingest.log_landing l
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
      SELECT l.block INTO block FROM ingest.log_landing l
      WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = s.first_id;
    ELSE
      base_id := 0;
      base_us := 0;
      block := s.block;
    END IF;
    RETURN NEXT;
    bytes := bytes + octet_length(block);
    reach := greatest(reach, s.last_line);
    -- Of a segment that begins before the place, the share that lies behind it, by its numbers.
    lines := lines + CASE
      WHEN s.first_line > after_line THEN s.lines
      ELSE trunc(s.lines::numeric * (s.last_line - after_line) / (s.last_line - s.first_line + 1)) END;
  END LOOP;
END
$$;

-- The same from the end of the stream: segments in descending order of their last line. The last row,
-- where there are more, has the place behind which no line was left out.
CREATE FUNCTION ingest.log_segments_at_end(
  org uuid, run uuid, of_stream text, until_line bigint, until_id bigint,
  lines_max bigint, bytes_max bigint, blocks_max integer
) RETURNS TABLE (last_line bigint, last_id bigint, base_id bigint, base_us bigint, block bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
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
        -- Where in its last number a landing row ends is not known: at most at the last id that it may have.
        SELECT l.last_line, l.id + 63 AS last_id, l.first_line, l.lines::bigint AS lines, l.id AS base_id, l.received_us,
               row_number() OVER (ORDER BY l.last_line DESC, l.id DESC) AS n
        FROM ingest.log_landing l
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
      SELECT l.block INTO block FROM ingest.log_landing l
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

-- Landing rows of a stream that were received at least `settled_seconds` ago, in the order of their
-- arrival, up to `rows_max` rows or the row that takes their messages to `bytes_max` bytes.
CREATE FUNCTION ingest.waiting_log_rows(
  org uuid, run uuid, of_stream text, settled_seconds double precision, rows_max integer, bytes_max bigint
) RETURNS TABLE (id bigint, received_us bigint, age_seconds double precision, block bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  now_us constant bigint := (extract(epoch FROM now()) * 1000000)::bigint;
  text_bytes integer;
BEGIN
  PERFORM platform.enter_org(org);
  FOR id, received_us, text_bytes, block IN
    SELECT l.id, l.received_us, l.message_bytes, l.block FROM ingest.log_landing l
    WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream
      AND l.received_us <= now_us - settled_seconds * 1000000
    ORDER BY l.id LIMIT rows_max
  LOOP
    age_seconds := (now_us - received_us) / 1000000.0;
    RETURN NEXT;
    bytes_max := bytes_max - text_bytes;
    EXIT WHEN bytes_max <= 0;
  END LOOP;
END
$$;

-- Of each level of a stream, the blocks that begin at or before each of the places, nearest first, up
-- to `blocks_max` of each.
CREATE FUNCTION ingest.log_blocks_before(
  org uuid, run uuid, of_stream text, before_lines double precision[], before_ids double precision[], blocks_max integer
) RETURNS TABLE (place integer, level smallint, first_line bigint, first_id bigint, last_line bigint, last_id bigint,
                 lines integer, message_bytes integer)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
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

-- The first block of the highest level of a stream, if that is at least `lowest_level`, and the blocks
-- of all lower levels that overlap it, at most `blocks_max` of each.
CREATE FUNCTION ingest.log_blocks_at_top(
  org uuid, run uuid, of_stream text, lowest_level integer, blocks_max integer
) RETURNS TABLE (level smallint, first_line bigint, first_id bigint, last_line bigint, last_id bigint,
                 lines integer, message_bytes integer)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  top record;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes INTO top
  FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level >= lowest_level
  ORDER BY b.level DESC, b.first_line, b.first_id LIMIT 1;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT top.level, top.first_line, top.first_id, top.last_line, top.last_id, top.lines, top.message_bytes;
  RETURN QUERY
    SELECT b.level, b.first_line, b.first_id, b.last_line, b.last_id, b.lines, b.message_bytes
    FROM generate_series(0, top.level - 1) AS v(level) CROSS JOIN LATERAL (
      SELECT c.* FROM ingest.log_blocks c
      WHERE c.org_id = org AND c.run_id = run AND c.stream = of_stream AND c.level = v.level
        AND (c.first_line, c.first_id) <= (top.last_line, top.last_id)
      ORDER BY c.first_line DESC, c.first_id DESC LIMIT blocks_max
    ) b
    WHERE (b.last_line, b.last_id) >= (top.first_line, top.first_id);
END
$$;

-- The contents of some blocks, each named by its level and its first place, in the order asked for.
CREATE FUNCTION ingest.read_log_blocks(
  org uuid, run uuid, of_stream text, levels integer[], first_lines double precision[], first_ids double precision[]
) RETURNS TABLE (block bytea)
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  PERFORM platform.enter_org(org);
  RETURN QUERY
    SELECT b.block
    FROM unnest(levels, first_lines, first_ids) WITH ORDINALITY AS w (level, line, id, n)
    JOIN ingest.log_blocks b ON b.org_id = org AND b.run_id = run AND b.stream = of_stream
      AND b.level = w.level AND b.first_line = w.line::bigint AND b.first_id = w.id::bigint
    ORDER BY w.n;
END
$$;

-- One step of a compaction, all of it or nothing: landing rows and blocks that were read go, blocks
-- that hold exactly their lines come. False, and nothing done, when the fence is no longer the
-- holder's: somebody else has the work. Otherwise the claim lasts `lease_seconds` more. Nothing else
-- takes these rows away, so a row that is missing is a fault and fails the step.
CREATE FUNCTION ingest.replace_log_blocks(
  org uuid, run uuid, of_stream text, held_fence uuid, lease_seconds double precision,
  landing_ids double precision[],
  old_levels integer[], old_lines double precision[], old_ids double precision[],
  new_levels integer[], first_lines double precision[], first_ids double precision[],
  last_lines double precision[], last_ids double precision[],
  line_counts integer[], text_bytes integer[], new_blocks bytea[]
) RETURNS boolean
  LANGUAGE plpgsql AS $$
DECLARE
  gone integer;
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'logs' AND w.run_id = run AND w.part = of_stream AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN false;
  END IF;

  DELETE FROM ingest.log_landing l USING unnest(landing_ids) AS d (id)
  WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream AND l.id = d.id::bigint;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(landing_ids) THEN
    RAISE EXCEPTION '% of % landing rows were there', gone, cardinality(landing_ids);
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

-- Ends a claim. Due again in `next_seconds`, or earlier when a mark that was taken meanwhile says so. With
-- `quiet_seconds` the work is done for good instead, if its last mark is older than that: every writer
-- leaves marks at shorter intervals, so what it wrote before is seen by now.
CREATE FUNCTION ingest.release_compaction(
  org uuid, of_kind text, run uuid, of_part text, held_fence uuid, seen_mark timestamptz,
  next_seconds double precision, quiet_seconds double precision, failures_in_row integer
) RETURNS void
  LANGUAGE plpgsql AS $$
BEGIN
  IF quiet_seconds IS NOT NULL THEN
    DELETE FROM ingest.compaction_work w
    WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence
      AND w.marked_at = seen_mark AND w.marked_at < now() - make_interval(secs => quiet_seconds);
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  UPDATE ingest.compaction_work w SET
    claimed_until = '-infinity',
    due_at = CASE WHEN w.marked_at = seen_mark THEN now() + make_interval(secs => next_seconds)
                  ELSE least(w.due_at, now() + make_interval(secs => next_seconds)) END,
    failures = failures_in_row
  WHERE w.org_id = org AND w.kind = of_kind AND w.run_id = run AND w.part = of_part AND w.fence = held_fence;
END
$$;

REVOKE ALL ON FUNCTION ingest.append_log_lines, ingest.log_segments_after, ingest.log_segments_at_end,
  ingest.waiting_log_rows, ingest.log_blocks_before, ingest.log_blocks_at_top, ingest.read_log_blocks,
  ingest.replace_log_blocks, ingest.release_compaction FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_log_lines, ingest.log_segments_after, ingest.log_segments_at_end
  TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.waiting_log_rows, ingest.log_blocks_before, ingest.log_blocks_at_top,
  ingest.read_log_blocks, ingest.replace_log_blocks, ingest.release_compaction
  TO tidemark_ingest_worker;
