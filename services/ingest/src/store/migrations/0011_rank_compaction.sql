-- Rows of rank metrics are folded by the compactor, under its lease and fence, instead of by a timer that
-- knew only what its own process had written.

COMMENT ON COLUMN ingest.compaction_marks.kind IS 'what is compacted: logs, metrics, ranks';
COMMENT ON COLUMN ingest.compaction_marks.part IS
  'the part of the run that is compacted as one: of logs the stream, of metrics none, of rank metrics the set of keys';
COMMENT ON COLUMN ingest.compaction_marks.id IS 'tells marks of one part apart: of rank metrics when it was made, else the landing row that came with it';

DROP FUNCTION ingest.append_rank_metrics;

-- As before, and leaves a mark for each of `mark_sets`, due in `mark_seconds`.
CREATE FUNCTION ingest.append_rank_metrics(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  at_step double precision, at_rank smallint, at_local_rank smallint, rank_weight double precision,
  client_us bigint, value_count integer,
  sets integer[], first_slots smallint[], pages boolean[], packed_values bytea[],
  mark_sets integer[], mark_seconds double precision[],
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

  INSERT INTO ingest.compaction_marks (org_id, kind, run_id, part, id, due_at)
  SELECT org, 'ranks', run, m.set_id::text, now_us, now() + make_interval(secs => m.seconds)
  FROM unnest(mark_sets, mark_seconds) AS m (set_id, seconds)
  ON CONFLICT DO NOTHING;

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(value_count));
  END IF;
  outcome := 'inserted';
  inserted := value_count;
END
$$;

-- Folds rows as ingest.fold_rank_rows does, and holds the claim on the work for `lease_seconds` more; -1, and nothing
-- done, when the fence is no longer the holder's.
CREATE FUNCTION ingest.compact_rank_rows(
  org uuid, run uuid, of_set integer, held_fence uuid, lease_seconds double precision,
  rest_seconds double precision, entries_min integer, entries_max integer, overlaps_max integer
) RETURNS integer
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM platform.enter_org(org);
  UPDATE ingest.compaction_work w SET claimed_until = now() + make_interval(secs => lease_seconds)
  WHERE w.org_id = org AND w.kind = 'ranks' AND w.run_id = run AND w.part = of_set::text AND w.fence = held_fence;
  IF NOT FOUND THEN
    RETURN -1;
  END IF;
  RETURN ingest.fold_rank_rows(org, run, of_set, rest_seconds, entries_min, entries_max, overlaps_max);
END
$$;

REVOKE DELETE ON ingest.rank_metric_rows FROM tidemark_ingest;
REVOKE INSERT ON ingest.rank_metric_blocks FROM tidemark_ingest;
REVOKE EXECUTE ON FUNCTION ingest.fold_rank_rows FROM tidemark_ingest;
GRANT SELECT, DELETE ON ingest.rank_metric_rows TO tidemark_ingest_worker;
GRANT SELECT, INSERT ON ingest.rank_metric_blocks TO tidemark_ingest_worker;
REVOKE ALL ON FUNCTION ingest.append_rank_metrics, ingest.compact_rank_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_rank_metrics TO tidemark_ingest;
GRANT EXECUTE ON FUNCTION ingest.fold_rank_rows, ingest.compact_rank_rows TO tidemark_ingest_worker;

-- What was written before is looked at once.
ALTER TABLE ingest.rank_metric_sets NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.compaction_marks NO FORCE ROW LEVEL SECURITY;
INSERT INTO ingest.compaction_marks (org_id, kind, run_id, part, id, due_at)
SELECT s.org_id, 'ranks', s.run_id, s.set_id::text, 0, now() FROM ingest.rank_metric_sets s WHERE s.digest IS NOT NULL;
ALTER TABLE ingest.rank_metric_sets FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.compaction_marks FORCE ROW LEVEL SECURITY;
