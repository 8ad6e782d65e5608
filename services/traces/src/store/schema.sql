-- Schema traces: what a new database starts with.

CREATE SCHEMA traces;
GRANT USAGE ON SCHEMA traces TO tidemark_definer, tidemark_runs, tidemark_traces, tidemark_traces_worker, tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA traces TO tidemark_definer, tidemark_traces;

CREATE FUNCTION traces.search_text(root_name text, thread_id text, rollout_id text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN lower((root_name || E'\n' || thread_id || E'\n' || rollout_id) COLLATE "C");
COMMENT ON FUNCTION traces.search_text IS 'What searches look through: ASCII letters in lower case.';

CREATE TABLE traces.compaction_work (
  org_id uuid NOT NULL,
  trace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  CONSTRAINT compaction_work_pkey PRIMARY KEY (org_id, trace_id, run_id)
) WITH (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=1000);
COMMENT ON COLUMN traces.compaction_work.due_at IS 'when to look; of claimed work, when the claim expires';
CREATE INDEX compaction_work_due ON traces.compaction_work (due_at);
SELECT platform.fence('traces.compaction_work');
SELECT platform.unfence_for('traces.compaction_work', 'tidemark_traces_worker');
GRANT SELECT, INSERT, DELETE ON TABLE traces.compaction_work TO tidemark_traces;
GRANT SELECT, UPDATE, DELETE ON TABLE traces.compaction_work TO tidemark_traces_worker;

CREATE TABLE traces.event_counts (
  org_id uuid NOT NULL,
  slot smallint NOT NULL,
  events bigint NOT NULL,
  month date NOT NULL,
  month_events bigint NOT NULL,
  CONSTRAINT event_counts_pkey PRIMARY KEY (org_id, slot),
  CONSTRAINT event_counts_slot_check CHECK (slot >= 0 AND slot <= 15)
) WITH (fillfactor=20, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_threshold=500);
COMMENT ON TABLE traces.event_counts IS 'how many trace events an organization has written: the sum over the slots';
COMMENT ON COLUMN traces.event_counts.month IS 'the first day of the month in UTC that month_events are of';
SELECT platform.fence('traces.event_counts');
GRANT SELECT, INSERT, UPDATE ON TABLE traces.event_counts TO tidemark_traces;
GRANT SELECT, DELETE ON TABLE traces.event_counts TO tidemark_traces_worker;
GRANT SELECT ON TABLE traces.event_counts TO tidemark_usage;

CREATE TABLE traces.minutes (
  org_id uuid NOT NULL,
  scope_id uuid NOT NULL,
  minute bigint NOT NULL,
  facets integer NOT NULL,
  min_step_low double precision NOT NULL,
  min_step_high double precision NOT NULL,
  CONSTRAINT minutes_pkey PRIMARY KEY (org_id, scope_id, minute)
);
COMMENT ON COLUMN traces.minutes.scope_id IS 'a run or a project';
COMMENT ON COLUMN traces.minutes.minute IS 'minutes since the Unix epoch';
COMMENT ON COLUMN traces.minutes.facets IS 'the bits of kinds, and bit 16 + n for status n; bits are never taken back';
COMMENT ON COLUMN traces.minutes.min_step_low IS 'Infinity, and -Infinity as min_step_high, where no trace has a step';
SELECT platform.fence('traces.minutes');
GRANT SELECT, INSERT, UPDATE ON TABLE traces.minutes TO tidemark_traces;
GRANT SELECT, DELETE ON TABLE traces.minutes TO tidemark_traces_worker;

CREATE TABLE traces.segments (
  org_id uuid NOT NULL,
  trace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint NOT NULL,
  tree bytea NOT NULL,
  payloads bytea NOT NULL,
  bytes integer NOT NULL,
  CONSTRAINT segments_pkey PRIMARY KEY (org_id, trace_id, run_id, id)
);
ALTER TABLE traces.segments ALTER COLUMN tree SET STORAGE EXTERNAL, ALTER COLUMN payloads SET STORAGE EXTERNAL;
COMMENT ON COLUMN traces.segments.id IS 'ascends with time: the order of arrival';
COMMENT ON COLUMN traces.segments.tree IS 'tree columns of the span codec';
COMMENT ON COLUMN traces.segments.payloads IS 'payloads of the span codec in the order of the records, packed';
COMMENT ON COLUMN traces.segments.bytes IS 'logical ones: of the tree, and of the payloads before they were packed';
SELECT platform.fence('traces.segments');
SELECT platform.count_stored('traces.segments', 'traces');
GRANT SELECT, INSERT, DELETE ON TABLE traces.segments TO tidemark_traces;
GRANT SELECT, DELETE ON TABLE traces.segments TO tidemark_traces_worker;
GRANT SELECT (org_id, bytes) ON TABLE traces.segments TO tidemark_usage;

CREATE TABLE traces.traces (
  org_id uuid NOT NULL,
  trace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  version bigint NOT NULL,
  segments integer NOT NULL,
  compacted integer DEFAULT 0 NOT NULL,
  started_us bigint NOT NULL,
  updated_us bigint NOT NULL,
  status smallint NOT NULL,
  kinds integer NOT NULL,
  min_step double precision,
  root_name text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  rollout_id text COLLATE "C" NOT NULL,
  summary bytea NOT NULL,
  CONSTRAINT traces_pkey PRIMARY KEY (org_id, trace_id, run_id)
) WITH (fillfactor=85);
COMMENT ON COLUMN traces.traces.version IS 'the id of the last segment that was ever written';
COMMENT ON COLUMN traces.traces.segments IS 'how many segments it has now';
COMMENT ON COLUMN traces.traces.compacted IS 'how many of them, from the first on, were made by compaction';
COMMENT ON COLUMN traces.traces.started_us IS 'microseconds since the Unix epoch, as updated_us';
COMMENT ON COLUMN traces.traces.status IS 'a number of tidemark.traces.v1.SpanStatus';
COMMENT ON COLUMN traces.traces.kinds IS 'a bit for each tidemark.traces.v1.SpanKind';
COMMENT ON COLUMN traces.traces.min_step IS 'the lowest step of a span';
COMMENT ON COLUMN traces.traces.thread_id IS 'empty without one, as rollout_id';
COMMENT ON COLUMN traces.traces.summary IS 'the other members of a trace in lists';
CREATE INDEX traces_of_project ON traces.traces (org_id, project_id, started_us, trace_id, run_id);
CREATE INDEX traces_of_run ON traces.traces (org_id, run_id, started_us, trace_id);
CREATE INDEX traces_running_in_project ON traces.traces (org_id, project_id, started_us, trace_id,
  run_id) WHERE status = 1;
CREATE INDEX traces_running_in_run ON traces.traces (org_id, run_id, started_us, trace_id) WHERE status = 1;
CREATE INDEX traces_words ON traces.traces USING gin ((org_id::text), traces.search_text(root_name, thread_id,
  rollout_id) public.gin_trgm_ops) WITH (gin_pending_list_limit='1024');
SELECT platform.fence('traces.traces');
CREATE POLICY all_for_tidemark_definer ON traces.traces TO tidemark_definer
  USING (true);
GRANT SELECT ON TABLE traces.traces TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE ON TABLE traces.traces TO tidemark_traces;
GRANT SELECT, UPDATE (version), DELETE ON TABLE traces.traces TO tidemark_traces_worker;

CREATE VIEW traces.found_traces AS
  SELECT org_id, trace_id, run_id, project_id, started_us, updated_us, status, kinds, min_step, root_name, thread_id,
    rollout_id, summary
  FROM traces.traces WHERE org_id::text = platform.org_id()::text;
COMMENT ON VIEW traces.found_traces IS
  'What searches read, with the rights of its owner, a role without login: row level security would keep PostgreSQL '
  'from using the index of words. Compares the organization itself.';
ALTER VIEW traces.found_traces OWNER TO tidemark_definer;
GRANT SELECT ON TABLE traces.found_traces TO tidemark_traces;

CREATE VIEW traces.stored_rows_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, 'traces'::text AS kind, s.bytes::bigint AS amount FROM traces.segments s;
COMMENT ON VIEW traces.stored_rows_v1 IS 'The logical bytes of each row that is stored. Reads everything: for recounts.';
GRANT SELECT ON TABLE traces.stored_rows_v1 TO tidemark_usage;

CREATE VIEW traces.usage_v1 WITH (security_invoker = true) AS
  SELECT c.org_id,
         coalesce(sum(c.month_events) FILTER (WHERE c.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint
           AS month_events,
         sum(c.events)::bigint AS events
  FROM traces.event_counts c GROUP BY c.org_id;
COMMENT ON VIEW traces.usage_v1 IS
  'How many trace events an organization has written, in this month in UTC and ever. An organization without events '
  'has no row.';
GRANT SELECT ON TABLE traces.usage_v1 TO tidemark_usage;

CREATE FUNCTION traces.append_events(org uuid, run uuid, project uuid, idempotency_key bytea, idempotency_body bytea,
  answer bytea, trace_ids uuid[], versions bigint[], next_versions bigint[], segment_counts integer[], starts bigint[],
  statuses integer[], kind_bits integer[], min_steps double precision[], root_names text[], thread_ids text[],
  rollout_ids text[], summaries bytea[], segment_traces integer[], segment_ids bigint[], trees bytea[],
  payload_blocks bytea[], segment_bytes integer[], work_seconds double precision, restored_us bigint[],
  event_count integer, OUT outcome text, OUT old_answer bytea, OUT updated bigint)
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  stale integer;
BEGIN
  PERFORM platform.enter_org(org);
  IF idempotency_key IS NOT NULL THEN
    SELECT CASE WHEN c.same_body THEN 'replayed' ELSE 'reused' END, c.reply INTO outcome, old_answer
    FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;

  SELECT count(*) INTO stale
  FROM unnest(trace_ids, versions) AS w (id, version)
  LEFT JOIN LATERAL (SELECT t.version FROM traces.traces t
                     WHERE t.org_id = org AND t.trace_id = w.id AND t.run_id = run OFFSET 0 FOR UPDATE) o ON true
  WHERE coalesce(o.version, 0) <> w.version;
  IF stale > 0 THEN
    outcome := 'stale';
    RETURN;
  END IF;

  updated := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
  INSERT INTO traces.traces AS t
    (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
     root_name, thread_id, rollout_id, summary)
  SELECT org, w.id, run, project, w.next_version, w.segments, w.started, coalesce(restored_us[w.n], updated), w.status, w.kinds, nullif(w.min_step, 'NaN'),
         w.root_name, w.thread_id, w.rollout_id, w.summary
  FROM unnest(trace_ids, versions, next_versions, segment_counts, starts, statuses, kind_bits, min_steps, root_names,
              thread_ids, rollout_ids, summaries) WITH ORDINALITY
       AS w (id, version, next_version, segments, started, status, kinds, min_step, root_name, thread_id, rollout_id, summary, n)
  ON CONFLICT (org_id, trace_id, run_id) DO UPDATE SET
    version = excluded.version, segments = excluded.segments, started_us = excluded.started_us,
    updated_us = greatest(t.updated_us, excluded.updated_us), status = excluded.status, kinds = excluded.kinds,
    min_step = excluded.min_step, root_name = excluded.root_name, thread_id = excluded.thread_id,
    rollout_id = excluded.rollout_id, summary = excluded.summary
  -- A trace that was not there a moment ago, but is now, is not this request's to overwrite.
  WHERE t.version = versions[array_position(trace_ids, t.trace_id)];
  GET DIAGNOSTICS stale = ROW_COUNT;
  IF stale <> cardinality(trace_ids) THEN
    RAISE EXCEPTION USING ERRCODE = 'TM010', MESSAGE = 'another process was quicker';
  END IF;

  INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads, bytes)
  SELECT org, trace_ids[s.trace], run, s.id, s.tree, s.payloads, s.bytes
  FROM unnest(segment_traces, segment_ids, trees, payload_blocks, segment_bytes) AS s (trace, id, tree, payloads, bytes);

  INSERT INTO traces.minutes AS m (org_id, scope_id, minute, facets, min_step_low, min_step_high)
  SELECT org, n.scope, n.minute, n.facets, n.low, n.high
  FROM (SELECT s.scope, w.started / 60000000 - (w.started % 60000000 < 0)::integer AS minute,
               bit_or(w.kinds | (1 << (16 + w.status))) AS facets,
               min(coalesce(nullif(w.min_step, 'NaN'), 'Infinity')) AS low,
               max(coalesce(nullif(w.min_step, 'NaN'), '-Infinity')) AS high
        FROM unnest(starts, statuses, kind_bits, min_steps) AS w (started, status, kinds, min_step),
             unnest(ARRAY[project, run]) AS s (scope)
        GROUP BY 1, 2 ORDER BY 1, 2) n
  WHERE NOT EXISTS (SELECT FROM traces.minutes o
                    WHERE o.org_id = org AND o.scope_id = n.scope AND o.minute = n.minute
                      AND o.facets & n.facets = n.facets AND o.min_step_low <= n.low AND o.min_step_high >= n.high OFFSET 0)
  ON CONFLICT (org_id, scope_id, minute) DO UPDATE SET
    facets = m.facets | excluded.facets,
    min_step_low = least(m.min_step_low, excluded.min_step_low), min_step_high = greatest(m.min_step_high, excluded.min_step_high);

  INSERT INTO traces.compaction_work (org_id, trace_id, run_id, due_at)
  SELECT org, w.id, run, now() + make_interval(secs => work_seconds)
  FROM unnest(trace_ids, segment_counts) AS w (id, segments) WHERE w.segments > 1
  ON CONFLICT DO NOTHING;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, answer);
  END IF;

  -- Last, because another write may wait for the counter until this one is committed.
  INSERT INTO traces.event_counts AS c (org_id, slot, events, month, month_events)
  VALUES (org, floor(random() * 16)::smallint, event_count, date_trunc('month', now() AT TIME ZONE 'UTC')::date, event_count)
  ON CONFLICT (org_id, slot) DO UPDATE
  SET events = c.events + excluded.events,
      month_events = CASE WHEN c.month >= excluded.month THEN c.month_events ELSE 0 END + excluded.month_events,
      month = greatest(c.month, excluded.month);
  outcome := 'inserted';
END
$function$;
COMMENT ON FUNCTION traces.append_events IS 'Stores the events of a request, all or none, and counts them.';
REVOKE ALL ON FUNCTION traces.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION traces.append_events TO tidemark_traces;

CREATE FUNCTION traces.filtered_page(org uuid, scope uuid, is_run boolean, from_us bigint, before_us bigint,
  before_trace uuid, before_run uuid, wanted_status integer, wanted_kinds integer, low_step double precision,
  high_step double precision, rows_max integer)
RETURNS SETOF traces.traces
LANGUAGE plpgsql
STABLE
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
SET enable_sort TO 'off'
AS $function$
DECLARE
  wanted_facets constant integer := wanted_kinds | CASE WHEN wanted_status = 0 THEN 0 ELSE 1 << (16 + wanted_status) END;
  rows_left integer := rows_max;
  returned integer;
  this_minute bigint;
BEGIN
  FOR this_minute IN
    SELECT m.minute FROM traces.minutes m
    WHERE m.org_id = org AND m.scope_id = scope
      AND m.minute >= from_us / 60000000 - 1 AND m.minute <= before_us / 60000000
      AND m.facets & wanted_facets = wanted_facets
      AND (low_step IS NULL OR m.min_step_high >= low_step) AND (high_step IS NULL OR m.min_step_low <= high_step)
    ORDER BY m.minute DESC
  LOOP
    IF is_run THEN
      RETURN QUERY
        SELECT t.* FROM traces.traces t
        WHERE t.org_id = org AND t.run_id = scope
          AND t.started_us >= greatest(from_us, this_minute * 60000000) AND t.started_us < (this_minute + 1) * 60000000
          AND (t.started_us, t.trace_id) < (before_us, before_trace)
          AND (wanted_status = 0 OR t.status = wanted_status) AND t.kinds & wanted_kinds = wanted_kinds
          AND (low_step IS NULL OR t.min_step >= low_step) AND (high_step IS NULL OR t.min_step <= high_step)
        ORDER BY t.started_us DESC, t.trace_id DESC LIMIT rows_left;
    ELSE
      RETURN QUERY
        SELECT t.* FROM traces.traces t
        WHERE t.org_id = org AND t.project_id = scope
          AND t.started_us >= greatest(from_us, this_minute * 60000000) AND t.started_us < (this_minute + 1) * 60000000
          AND (t.started_us, t.trace_id, t.run_id) < (before_us, before_trace, before_run)
          AND (wanted_status = 0 OR t.status = wanted_status) AND t.kinds & wanted_kinds = wanted_kinds
          AND (low_step IS NULL OR t.min_step >= low_step) AND (high_step IS NULL OR t.min_step <= high_step)
        ORDER BY t.started_us DESC, t.trace_id DESC, t.run_id DESC LIMIT rows_left;
    END IF;
    GET DIAGNOSTICS returned = ROW_COUNT;
    rows_left := rows_left - returned;
    EXIT WHEN rows_left <= 0;
  END LOOP;
END
$function$;
COMMENT ON FUNCTION traces.filtered_page IS
  'A page of the traces of a project or a run that pass a filter, the one that started last first, from behind a '
  'position. Walks only the minutes that may have what is wanted, so that a rare value does not cost a walk of '
  'everything. wanted_status and wanted_kinds 0: any; a step bound null: none.';
REVOKE ALL ON FUNCTION traces.filtered_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION traces.filtered_page TO tidemark_traces;

CREATE FUNCTION traces.replace_segments(org uuid, trace uuid, run uuid, known_version bigint, new_ids bigint[],
  trees bytea[], payload_blocks bytea[], segment_bytes integer[])
RETURNS boolean
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  UPDATE traces.traces t SET version = new_ids[cardinality(new_ids)], segments = cardinality(new_ids), compacted = cardinality(new_ids)
  WHERE t.org_id = org AND t.trace_id = trace AND t.run_id = run AND t.version = known_version;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM traces.segments s WHERE s.org_id = org AND s.trace_id = trace AND s.run_id = run;
  INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads, bytes)
  SELECT org, trace, run, s.id, s.tree, s.payloads, s.bytes
  FROM unnest(new_ids, trees, payload_blocks, segment_bytes) AS s (id, tree, payloads, bytes);
  DELETE FROM traces.compaction_work w WHERE w.org_id = org AND w.trace_id = trace AND w.run_id = run;
  RETURN true;
END
$function$;
COMMENT ON FUNCTION traces.replace_segments IS
  'Puts compacted segments in the place of all segments of a trace, unless events were added meanwhile; then it '
  'returns false and changes nothing. Their ids ascend from behind known_version.';
REVOKE ALL ON FUNCTION traces.replace_segments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION traces.replace_segments TO tidemark_traces;

CREATE FUNCTION traces.span_count(summary bytea)
RETURNS bigint
LANGUAGE plpgsql
IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  -- Behind the version and the id of the root.
  at integer := 9;
  byte integer;
  scale bigint := 1;
  spans bigint := 0;
BEGIN
  -- A number: 1 and eight bytes, or an integer of groups of seven bits, the last of which is below 128.
  IF get_byte(summary, at) = 1 THEN
    at := at + 9;
  ELSE
    WHILE get_byte(summary, at) >= 128 LOOP
      at := at + 1;
    END LOOP;
    at := at + 1;
  END IF;
  LOOP
    byte := get_byte(summary, at);
    spans := spans + (byte & 127) * scale;
    EXIT WHEN byte < 128;
    at := at + 1;
    scale := scale * 128;
  END LOOP;
  RETURN spans;
END
$function$;
COMMENT ON FUNCTION traces.span_count IS
  'Returns how many spans a trace has, by its summary: the first count behind its end.';
REVOKE ALL ON FUNCTION traces.span_count FROM PUBLIC;
GRANT EXECUTE ON FUNCTION traces.span_count TO tidemark_traces;

CREATE FUNCTION traces.copy_run_v1(org uuid, source uuid, copy uuid, project uuid, state json)
RETURNS json
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  rows_max constant integer := 100;
  quiet constant interval := '1 minute';
  after_us constant bigint := coalesce((state ->> 'us')::bigint, -9223372036854775808);
  after_id constant uuid := coalesce(state ->> 'id', '00000000-0000-0000-0000-000000000000');
  this_month constant date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  copied integer;
  spans bigint;
  last_us bigint;
  last_id uuid;
BEGIN
  -- One statement, so that a trace and its segments are of one moment, whatever is written or compacted meanwhile.
  WITH page AS MATERIALIZED (
    SELECT t.* FROM traces.traces t
    WHERE t.org_id = org AND t.run_id = source AND (t.started_us, t.trace_id) > (after_us, after_id)
      -- A trace that began earlier than was known would come again.
      AND NOT EXISTS (SELECT FROM traces.traces o WHERE o.org_id = org AND o.trace_id = t.trace_id AND o.run_id = copy OFFSET 0)
    ORDER BY t.started_us, t.trace_id LIMIT rows_max
  ), made AS (
    INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, compacted, started_us, updated_us, status,
                               kinds, min_step, root_name, thread_id, rollout_id, summary)
    SELECT org, p.trace_id, copy, project, p.version, p.segments, p.compacted, p.started_us, p.updated_us, p.status, p.kinds,
           p.min_step, p.root_name, p.thread_id, p.rollout_id, p.summary
    FROM page p
  ), segments AS (
    INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads, bytes)
    SELECT org, s.trace_id, copy, s.id, s.tree, s.payloads, s.bytes FROM page p
    CROSS JOIN LATERAL (SELECT o.* FROM traces.segments o
                        WHERE o.org_id = org AND o.trace_id = p.trace_id AND o.run_id = source OFFSET 0) s
  ), work AS (
    INSERT INTO traces.compaction_work (org_id, trace_id, run_id, due_at)
    SELECT org, p.trace_id, copy, now() + quiet FROM page p WHERE p.segments > 1
  ), noted AS (
    INSERT INTO traces.minutes AS m (org_id, scope_id, minute, facets, min_step_low, min_step_high)
    SELECT org, s.scope, p.started_us / 60000000 - (p.started_us % 60000000 < 0)::integer AS minute,
           bit_or(p.kinds | (1 << (16 + p.status))), min(coalesce(p.min_step, 'Infinity')),
           max(coalesce(p.min_step, '-Infinity'))
    FROM page p, unnest(ARRAY[project, copy]) AS s (scope) GROUP BY 1, 2, 3 ORDER BY 2, 3
    ON CONFLICT (org_id, scope_id, minute) DO UPDATE SET
      facets = m.facets | excluded.facets,
      min_step_low = least(m.min_step_low, excluded.min_step_low),
      min_step_high = greatest(m.min_step_high, excluded.min_step_high)
  )
  SELECT count(*), coalesce(sum(traces.span_count(p.summary)), 0), (array_agg(p.started_us ORDER BY p.started_us, p.trace_id))[count(*)],
         (array_agg(p.trace_id ORDER BY p.started_us, p.trace_id))[count(*)]
  INTO copied, spans, last_us, last_id FROM page p;
  -- Last, because another write may wait for the counter.
  INSERT INTO traces.event_counts AS c (org_id, slot, events, month, month_events)
  SELECT org, floor(random() * 16)::smallint, spans, this_month, spans WHERE spans > 0
  ON CONFLICT (org_id, slot) DO UPDATE
  SET events = c.events + excluded.events,
      month_events = CASE WHEN c.month >= excluded.month THEN c.month_events ELSE 0 END + excluded.month_events,
      month = greatest(c.month, excluded.month);
  RETURN json_build_object('part', CASE WHEN copied < rows_max THEN 'done' ELSE 'traces' END, 'us', last_us, 'id', last_id);
END
$function$;
COMMENT ON FUNCTION traces.copy_run_v1 IS
  'Copies the next traces of a run to another run, which nothing shows yet, with their spans; each span counts as an event. '
  'state is what the call before returned, null at the start; its part is done after the last ones.';
REVOKE ALL ON FUNCTION traces.copy_run_v1 FROM PUBLIC;
ALTER FUNCTION traces.copy_run_v1 OWNER TO tidemark_traces;
GRANT EXECUTE ON FUNCTION traces.copy_run_v1 TO tidemark_runs;

CREATE FUNCTION traces.copy_sizes_v1(org uuid, run_ids uuid[], OUT events bigint, OUT bytes bigint)
RETURNS record
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET enable_seqscan TO 'off'
AS $function$
  SELECT coalesce(sum(t.spans), 0)::bigint, coalesce(sum(t.bytes), 0)::bigint
  FROM unnest(run_ids) AS w (id)
  CROSS JOIN LATERAL (
    SELECT sum(traces.span_count(f.summary)) AS spans,
           sum((SELECT sum(s.bytes) FROM traces.segments s
                WHERE s.org_id = org AND s.trace_id = f.trace_id AND s.run_id = w.id)) AS bytes
    FROM traces.traces f WHERE f.org_id = org AND f.run_id = w.id OFFSET 0) t
$function$;
COMMENT ON FUNCTION traces.copy_sizes_v1 IS
  'Returns what copies of runs would count for: an event for each span, and the bytes of their segments.';
REVOKE ALL ON FUNCTION traces.copy_sizes_v1 FROM PUBLIC;
ALTER FUNCTION traces.copy_sizes_v1 OWNER TO tidemark_traces;
GRANT EXECUTE ON FUNCTION traces.copy_sizes_v1 TO tidemark_runs;

CREATE FUNCTION traces.follow_runs_v1(org uuid, run_ids uuid[], project_ids uuid[], rows_max integer)
RETURNS integer
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  followed integer;
BEGIN
  WITH picked AS MATERIALIZED (
    SELECT t.trace_id, w.run_id, w.project_id FROM unnest(run_ids, project_ids) AS w (run_id, project_id)
    CROSS JOIN LATERAL (SELECT f.trace_id FROM traces.traces f
                        WHERE f.org_id = org AND f.run_id = w.run_id AND f.project_id <> w.project_id
                        OFFSET 0 FOR UPDATE SKIP LOCKED) t
    LIMIT rows_max
  ), moved AS (
    UPDATE traces.traces t SET project_id = p.project_id
    FROM picked p WHERE t.org_id = org AND t.trace_id = p.trace_id AND t.run_id = p.run_id
    RETURNING t.project_id, t.started_us, t.kinds | (1 << (16 + t.status)) AS facets, t.min_step
  ), noted AS (
    INSERT INTO traces.minutes AS m (org_id, scope_id, minute, facets, min_step_low, min_step_high)
    SELECT org, v.project_id, v.started_us / 60000000 - (v.started_us % 60000000 < 0)::integer AS minute,
           bit_or(v.facets), min(coalesce(v.min_step, 'Infinity')), max(coalesce(v.min_step, '-Infinity'))
    FROM moved v GROUP BY 1, 2, 3 ORDER BY 2, 3
    ON CONFLICT (org_id, scope_id, minute) DO UPDATE SET
      facets = m.facets | excluded.facets,
      min_step_low = least(m.min_step_low, excluded.min_step_low),
      min_step_high = greatest(m.min_step_high, excluded.min_step_high)
  )
  SELECT count(*) INTO followed FROM moved;
  RETURN followed;
END
$function$;
COMMENT ON FUNCTION traces.follow_runs_v1 IS
  'Gives traces of moved runs, at most rows_max of them, the projects of their runs. Returns how many it gave. Leaves '
  'out traces that are being written.';
REVOKE ALL ON FUNCTION traces.follow_runs_v1 FROM PUBLIC;
ALTER FUNCTION traces.follow_runs_v1 OWNER TO tidemark_traces;
GRANT EXECUTE ON FUNCTION traces.follow_runs_v1 TO tidemark_runs;

REVOKE CREATE ON SCHEMA traces FROM tidemark_definer, tidemark_traces;
