-- What the SDK logs as attributes and users look for elsewhere: console lines that it captured, and tags.

CREATE FUNCTION ingest.text_of(document json) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE WHEN json_typeof(document) <> 'string' THEN NULL
    WHEN strpos(document::text, '\u') = 0 THEN document #>> '{}'
    ELSE regexp_replace(document::text, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g')::json #>> '{}' END
$$;
COMMENT ON FUNCTION ingest.text_of IS
  'Returns the text of a JSON string, null for other values. What no text of PostgreSQL can hold becomes U+FFFD.';

CREATE FUNCTION ingest.line_of(document json) RETURNS bytea
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bytes bytea := convert_to(ingest.text_of(document), 'UTF8');
  length integer := 16384;
BEGIN
  IF octet_length(bytes) <= length THEN
    RETURN bytes;
  END IF;
  -- Not in the middle of a character.
  WHILE get_byte(bytes, length) & 192 = 128 LOOP
    length := length - 1;
  END LOOP;
  RETURN substring(bytes FROM 1 FOR length);
END
$$;
COMMENT ON FUNCTION ingest.line_of IS
  'Returns the message of the console line that a JSON string becomes: as much of it as a line may have.';

CREATE FUNCTION ingest.last_line(org uuid, run uuid, of_stream text) RETURNS bigint
  LANGUAGE plpgsql STABLE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  top smallint;
BEGIN
  SELECT b.level INTO top FROM ingest.log_blocks b
  WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream ORDER BY b.level DESC LIMIT 1;
  RETURN coalesce(greatest(
    (SELECT max(s.last_line) FROM (
       SELECT l.last_line FROM ingest.log_segments l
       WHERE l.org_id = org AND l.run_id = run AND l.stream = of_stream ORDER BY l.id DESC LIMIT 64) s),
    (SELECT max(s.last_line) FROM generate_series(0, top) AS v(level) CROSS JOIN LATERAL (
       SELECT b.last_line FROM ingest.log_blocks b
       WHERE b.org_id = org AND b.run_id = run AND b.stream = of_stream AND b.level = v.level
       ORDER BY b.first_line DESC, b.first_id DESC LIMIT 1) s)), 0);
END
$$;
COMMENT ON FUNCTION ingest.last_line IS
  'Returns the highest number among the lines of the last 64 requests of a stream and its compacted lines; 0 without lines. '
  'A look at all that waits would cost more with every line.';

CREATE FUNCTION ingest.add_captured_lines(org uuid, run uuid, of_stream text, segments bigint[], places smallint[],
  logged text[], documents text[], received timestamptz, marker_seconds double precision) RETURNS bigint
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  highest constant bigint := 9007199254740991;
  before bigint;
  received_us constant bigint := (extract(epoch FROM received) * 1000000)::bigint;
BEGIN
  before := ingest.last_line(org, run, of_stream);
  INSERT INTO ingest.log_segments
    (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
  SELECT org, run, of_stream, w.segment, received_us, min(w.line), max(w.line), count(*), sum(octet_length(w.message)),
         '\x02'::bytea || string_agg(
           int8send(w.line) || int8send(w.place) || int8send(0)
           || int8send(coalesce((extract(epoch FROM w.logged::timestamptz) * 1000000)::bigint, -9223372036854775808))
           || int4send(octet_length(w.message)) || w.message,
           ''::bytea ORDER BY w.line, w.place)
  FROM (
    SELECT s.segment, s.place, s.logged, ingest.line_of(s.document::json) AS message, least(before + s.n, highest) AS line
    FROM unnest(segments, places, logged, documents) WITH ORDINALITY AS s (segment, place, logged, document, n)
  ) w
  GROUP BY w.segment;
  IF marker_seconds IS NOT NULL THEN
    INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
    VALUES (org, 'logs', run, of_stream, segments[1], now() + make_interval(secs => marker_seconds));
  END IF;
  RETURN least(before + cardinality(segments), highest);
END
$$;
COMMENT ON FUNCTION ingest.add_captured_lines IS
  'Stores JSON strings as console lines of a stream, behind its last line. Each line has a segment, a multiple of 64 for '
  'neighbors, and its place in it, from 0 to 63. Returns the number of the last line. '
  'Two writers at one time may use the same numbers, as every two processes of a run do. The blocks are plain ones of the '
  'log codec, because the numbers are not known before.';

CREATE FUNCTION ingest.append_captured(org uuid, run uuid, project uuid, first_id bigint, paths text[], types text[],
  steps double precision[], logged text[], documents text[], summaries text[], artifacts text[],
  line_streams text[], stdout_segments bigint[], stdout_marker double precision,
  stderr_segments bigint[], stderr_marker double precision, lines_per_segment integer,
  OUT outcome text, OUT place integer, OUT stored_at timestamptz, OUT highest_line bigint)
  LANGUAGE plpgsql AS $$
DECLARE
  stream text;
  segments bigint[];
  line_times text[];
  line_documents text[];
BEGIN
  SELECT a.outcome, a.place, a.stored_at INTO outcome, place, stored_at
  FROM ingest.append_attributes(org, run, project, first_id, paths, types, steps, logged, documents, summaries, artifacts) a;
  IF outcome <> 'inserted' THEN
    RETURN;
  END IF;
  FOREACH stream IN ARRAY ARRAY['stdout', 'stderr'] LOOP
    segments := CASE stream WHEN 'stdout' THEN stdout_segments ELSE stderr_segments END;
    CONTINUE WHEN segments = '{}';
    -- Nothing is looked up by its place: that would pass all texts before it.
    SELECT array_agg(a.logged ORDER BY a.n), array_agg(a.document ORDER BY a.n) INTO line_times, line_documents
    FROM unnest(logged, documents, line_streams) WITH ORDINALITY AS a (logged, document, of_stream, n) WHERE a.of_stream = stream;
    highest_line := greatest(highest_line, ingest.add_captured_lines(org, run, stream,
      ARRAY(SELECT segments[(n - 1) / lines_per_segment + 1] FROM generate_series(1, cardinality(line_documents)) n ORDER BY n),
      ARRAY(SELECT ((n - 1) % lines_per_segment)::smallint FROM generate_series(1, cardinality(line_documents)) n ORDER BY n),
      line_times, line_documents,
      stored_at, CASE stream WHEN 'stdout' THEN stdout_marker ELSE stderr_marker END));
  END LOOP;
END
$$;
COMMENT ON FUNCTION ingest.append_captured IS
  'As append_attributes, for a request with console lines that the SDK captured, which are stored as such in the same '
  'transaction. line_streams: of each attribute the stream of the line that it is, or null. Every lines_per_segment lines of a stream, at most 64, make '
  'a segment with the next of the ids. Markers as of append_log_lines. highest_line: the highest number that a line got.';

REVOKE ALL ON FUNCTION ingest.text_of, ingest.line_of, ingest.last_line, ingest.add_captured_lines, ingest.append_captured FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.text_of, ingest.line_of, ingest.last_line, ingest.add_captured_lines, ingest.append_captured
  TO tidemark_ingest;

CREATE OR REPLACE FUNCTION ingest.note_attributes() RETURNS trigger
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  noted record;
BEGIN
  FOR noted IN
    SELECT n.org_id, array_agg(n.run_id) AS runs, array_agg(n.id) AS ids, array_agg(n.path) AS paths, array_agg(n.value::text) AS documents
    FROM new_attributes n
    WHERE EXISTS (SELECT FROM runs.kept_paths_v1 k WHERE k.org_id = n.org_id AND k.path = n.path OFFSET 0)
    GROUP BY n.org_id
  LOOP
    PERFORM runs.note_attributes_v1(noted.org_id, noted.runs, noted.ids, noted.paths, noted.documents);
  END LOOP;
  IF EXISTS (SELECT FROM new_attributes n WHERE n.type = 'tag') THEN
    -- In one order for all, so that two transactions cannot wait for each other.
    FOR noted IN
      SELECT n.org_id, n.run_id, array_agg(ingest.text_of(n.value) ORDER BY n.id) AS tags
      FROM new_attributes n
      WHERE n.type = 'tag' AND n.path IN ('sys/tags', 'sys/group_tags') AND json_typeof(n.value) = 'string'
      GROUP BY n.org_id, n.run_id ORDER BY n.org_id, n.run_id
    LOOP
      PERFORM runs.note_tags_v1(noted.org_id, noted.run_id, noted.tags);
    END LOOP;
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION ingest.note_attributes IS
  'Tells the runs service of new values that it keeps and of new tags, in the statement that writes them.';

-- What was logged before, organization by organization, because the rows are fenced from their owner. In a new database
-- there is nothing. The numbers of these segments are below those of all that a process makes.
ALTER TABLE ingest.attributes NO FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
  of_run record;
  received timestamptz := now();
BEGIN
  -- In parts that an array can hold.
  FOR of_run IN
    SELECT a.org_id, a.run_id, substr(a.path, 9) AS stream, a.part,
           array_agg(a.logged_at::text ORDER BY a.id) AS logged, array_agg(a.document ORDER BY a.id) AS documents
    FROM (
      SELECT c.org_id, c.run_id, c.path, c.id, c.logged_at, c.value::text AS document,
             (row_number() OVER (PARTITION BY c.org_id, c.run_id, c.path ORDER BY c.id) - 1) / 5000 AS part
      FROM ingest.attributes c
      WHERE c.type = 'string_series' AND c.path IN ('console/stdout', 'console/stderr') AND json_typeof(c.value) = 'string'
    ) a
    GROUP BY a.org_id, a.run_id, a.path, a.part ORDER BY a.org_id, a.run_id, a.path, a.part
  LOOP
    PERFORM platform.enter_org(of_run.org_id);
    PERFORM ingest.add_captured_lines(of_run.org_id, of_run.run_id, of_run.stream,
      ARRAY(SELECT 64 * (of_run.part * 100 + (n - 1) / 50 + 1) FROM generate_series(1, cardinality(of_run.documents)) n ORDER BY n),
      ARRAY(SELECT ((n - 1) % 50)::smallint FROM generate_series(1, cardinality(of_run.documents)) n ORDER BY n),
      of_run.logged, of_run.documents, received, 0);
  END LOOP;
  IF to_regprocedure('runs.note_tags_v1(uuid, uuid, text[])') IS NULL THEN
    RETURN;
  END IF;
  FOR of_run IN
    SELECT a.org_id, a.run_id, array_agg(ingest.text_of(a.value) ORDER BY a.id) AS tags
    FROM ingest.attributes a
    WHERE a.type = 'tag' AND a.path IN ('sys/tags', 'sys/group_tags') AND json_typeof(a.value) = 'string'
    GROUP BY a.org_id, a.run_id
  LOOP
    PERFORM platform.enter_org(of_run.org_id);
    EXECUTE 'SELECT runs.note_tags_v1($1, $2, $3)' USING of_run.org_id, of_run.run_id, of_run.tags;
  END LOOP;
END
$$;
ALTER TABLE ingest.attributes FORCE ROW LEVEL SECURITY;
