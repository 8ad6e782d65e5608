-- When a run last wrote or polled. A narrow table of its own, because a live run changes its row every minute: no column
-- but the time changes, no index has the time, and pages keep room, so that each change stays within its page.
CREATE TABLE runs.signs_of_life (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, run_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE runs.signs_of_life IS
  'The last write or poll of a run, as gateways report it each minute; no row: none since it was created or resumed.';
SELECT platform.fence('runs.signs_of_life');
SELECT platform.unfence_for('runs.signs_of_life', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON runs.signs_of_life TO tidemark_runs;
GRANT SELECT, INSERT, UPDATE ON runs.signs_of_life TO tidemark_definer;

-- Records signs of life of runs of any organizations. Those of runs that the organization does not have are left out, and
-- an older sign never replaces a newer one. Always in the same order, so that two reports do not wait for each other forever.
CREATE FUNCTION runs.record_signs_of_life(org_ids uuid[], run_ids uuid[], seen timestamptz[])
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
BEGIN
  INSERT INTO runs.signs_of_life AS s (org_id, run_id, seen_at)
  SELECT w.org_id, w.run_id, max(w.at)
  FROM unnest(org_ids, run_ids, seen) AS w (org_id, run_id, at)
  CROSS JOIN LATERAL (SELECT FROM runs.runs r WHERE r.org_id = w.org_id AND r.id = w.run_id OFFSET 0) r
  GROUP BY w.org_id, w.run_id
  ORDER BY w.org_id, w.run_id
  ON CONFLICT (org_id, run_id) DO UPDATE SET seen_at = excluded.seen_at WHERE s.seen_at < excluded.seen_at;
END
$function$;
COMMENT ON FUNCTION runs.record_signs_of_life IS
  'Records signs of life of runs of any organizations; leaves out runs that the organization does not have. An older '
  'sign never replaces a newer one.';
REVOKE ALL ON FUNCTION runs.record_signs_of_life FROM PUBLIC;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.record_signs_of_life OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.record_signs_of_life TO tidemark_runs;
