-- What organizations use of their plans. Events that came before this are not counted.
CREATE TABLE traces.event_counts (
  org_id uuid NOT NULL,
  slot smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
  events bigint NOT NULL,
  month date NOT NULL,
  month_events bigint NOT NULL,
  PRIMARY KEY (org_id, slot)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE traces.event_counts IS 'how many trace events an organization has written: the sum over the slots';
COMMENT ON COLUMN traces.event_counts.month IS 'the first day of the month in UTC that month_events are of';
SELECT platform.fence('traces.event_counts');
GRANT SELECT, INSERT, UPDATE ON traces.event_counts TO tidemark_traces;

DROP FUNCTION traces.append_events;
CREATE FUNCTION traces.append_events(org uuid, run uuid, project uuid, idempotency_key bytea, idempotency_body bytea,
  answer bytea, trace_ids uuid[], versions bigint[], next_versions bigint[], segment_counts integer[], starts bigint[],
  statuses integer[], kind_bits integer[], min_steps double precision[], root_names text[], thread_ids text[],
  rollout_ids text[], summaries bytea[], segment_traces integer[], segment_ids bigint[], trees bytea[],
  payload_blocks bytea[], work_seconds double precision, restored_us bigint[] DEFAULT NULL::bigint[],
  event_count integer DEFAULT 0, OUT outcome text,
  OUT old_answer bytea, OUT updated bigint)
RETURNS record
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $$
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

  INSERT INTO traces.segments (org_id, trace_id, run_id, id, tree, payloads)
  SELECT org, trace_ids[s.trace], run, s.id, s.tree, s.payloads
  FROM unnest(segment_traces, segment_ids, trees, payload_blocks) AS s (trace, id, tree, payloads);

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
$$;
REVOKE ALL ON FUNCTION traces.append_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION traces.append_events TO tidemark_traces;
COMMENT ON FUNCTION traces.append_events IS
  'Stores the events of a request, all or none, and counts them. event_count comes last so that processes of the version before can go on.';

GRANT USAGE ON SCHEMA traces TO tidemark_usage;
GRANT SELECT ON traces.event_counts TO tidemark_usage;
CREATE VIEW traces.usage_v1 WITH (security_invoker = true) AS
  SELECT c.org_id,
         coalesce(sum(c.month_events) FILTER (WHERE c.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date), 0)::bigint
           AS month_events,
         sum(c.events)::bigint AS events
  FROM traces.event_counts c GROUP BY c.org_id;
COMMENT ON VIEW traces.usage_v1 IS
  'How many trace events an organization has written, in this month in UTC and ever. An organization without events has no row.';
GRANT SELECT ON traces.usage_v1 TO tidemark_usage;
