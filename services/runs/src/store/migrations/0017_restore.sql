-- Restores ask which run ids are free. As with taking one, nothing but that is told.
CREATE FUNCTION runs.taken_run_ids(wanted uuid[]) RETURNS SETOF uuid
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT w.id FROM unnest(wanted) AS w (id) WHERE EXISTS (SELECT FROM runs.run_ids t WHERE t.id = w.id);
$$;
REVOKE ALL ON FUNCTION runs.taken_run_ids(uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.taken_run_ids(uuid[]) TO tidemark_runs;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.taken_run_ids(uuid[]) OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;

-- Stores runs of an archive as they were, given as a JSON list of rows, and counts them. Those whose ids are taken are left as they are, so that a
-- repeat changes nothing. Returns how many of the ids the organization has then.
CREATE FUNCTION runs.restore_runs(org uuid, home uuid, archived json) RETURNS integer
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  wanted uuid[] := ARRAY(SELECT (w.r ->> 'id')::uuid FROM json_array_elements(archived) AS w (r));
  taken uuid[];
BEGIN
  taken := ARRAY(SELECT runs.take_run_ids(wanted, org));
  UPDATE runs.projects p SET
    runs_running = p.runs_running + c.running, runs_finished = p.runs_finished + c.finished, runs_failed = p.runs_failed + c.failed
  FROM (SELECT count(*) FILTER (WHERE w.r ->> 'status' = 'running') AS running, count(*) FILTER (WHERE w.r ->> 'status' = 'finished') AS finished,
               count(*) FILTER (WHERE w.r ->> 'status' = 'failed') AS failed
        FROM json_array_elements(archived) AS w (r) WHERE (w.r ->> 'id')::uuid = ANY (taken)) c
  WHERE p.org_id = org AND p.id = home AND taken <> '{}';

  INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at, resume_count, resumed_at,
                         lifecycle, parent_run_id, forked_from_step, forked_from_artifact_id, stop_state, stop_request_id, stop_reason,
                         stop_completion_message, stop_actor, stop_requested_at, stop_acknowledged_at, stop_completed_at, stop_updated_at)
  SELECT org, r.id, home, r.name, r.status, r.config, ARRAY(SELECT json_array_elements_text(r.tags)), r.metadata, r.created_at, r.started_at,
         r.finished_at, r.resume_count, r.resumed_at, r.lifecycle, r.parent_run_id, r.forked_from_step, r.forked_from_artifact_id, r.stop_state,
         r.stop_request_id, r.stop_reason, r.stop_completion_message, r.stop_actor, r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at,
         r.stop_updated_at
  FROM json_to_recordset(archived) AS r (
    id uuid, name text, status text, config text, tags json, metadata text, created_at timestamptz, started_at timestamptz, finished_at timestamptz,
    resume_count integer, resumed_at timestamptz, lifecycle jsonb, parent_run_id uuid, forked_from_step double precision,
    forked_from_artifact_id uuid, stop_state text, stop_request_id uuid, stop_reason text, stop_completion_message text, stop_actor text,
    stop_requested_at timestamptz, stop_acknowledged_at timestamptz, stop_completed_at timestamptz, stop_updated_at timestamptz)
  WHERE r.id = ANY (taken);
  RETURN (SELECT count(*) FROM unnest(wanted) AS w (id)
          CROSS JOIN LATERAL (SELECT FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) o);
END
$function$;
REVOKE ALL ON FUNCTION runs.restore_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.restore_runs TO tidemark_runs;
