-- A run's status and its stop state are one record. Whoever changes it, this service or the one that
-- handles stop requests, locks the row here, applies the transition table and writes the result here,
-- in one transaction. Both functions run as this service's role, so that row level security and the
-- organization of the transaction bound them like any other statement.

-- Locks a run until the end of the transaction. No row: there is no such run in the organization.
-- locked_at is the time to give to a transition: read after the lock was obtained, and from one clock
-- for all processes.
CREATE FUNCTION runs.lock_state_v1(org uuid, run uuid)
  RETURNS TABLE (
    project_id uuid, status text, started_at timestamptz, finished_at timestamptz, resume_count integer,
    resumed_at timestamptz, lifecycle jsonb, stop_state text, stop_request_id uuid, stop_reason text,
    stop_completion_message text, stop_actor text, stop_requested_at timestamptz, stop_acknowledged_at timestamptz,
    stop_completed_at timestamptz, stop_updated_at timestamptz, locked_at timestamptz)
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT locked.*, clock_timestamp()
  FROM (
    SELECT r.project_id, r.status, r.started_at, r.finished_at, r.resume_count, r.resumed_at, r.lifecycle,
           r.stop_state, r.stop_request_id, r.stop_reason, r.stop_completion_message, r.stop_actor,
           r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at, r.stop_updated_at
    FROM runs.runs r
    WHERE r.org_id = org AND r.id = run
    FOR UPDATE
  ) locked;
$$;

-- Writes the state of a run that lock_state_v1 locked, and keeps its project's counters.
-- new_lifecycle null: the entries stay as they are.
CREATE FUNCTION runs.set_state_v1(
  org uuid, run uuid, new_status text, new_finished_at timestamptz, new_resume_count integer,
  new_resumed_at timestamptz, new_stop_state text, new_stop_request_id uuid, new_stop_reason text,
  new_stop_completion_message text, new_stop_actor text, new_stop_requested_at timestamptz,
  new_stop_acknowledged_at timestamptz, new_stop_completed_at timestamptz, new_stop_updated_at timestamptz,
  new_lifecycle jsonb DEFAULT NULL)
  RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  old record;
BEGIN
  SELECT r.project_id, r.status INTO STRICT old FROM runs.runs r WHERE r.org_id = org AND r.id = run FOR UPDATE;
  UPDATE runs.runs r SET
    status = new_status,
    finished_at = new_finished_at,
    resume_count = new_resume_count,
    resumed_at = new_resumed_at,
    lifecycle = coalesce(new_lifecycle, r.lifecycle),
    stop_state = new_stop_state,
    stop_request_id = new_stop_request_id,
    stop_reason = new_stop_reason,
    stop_completion_message = new_stop_completion_message,
    stop_actor = new_stop_actor,
    stop_requested_at = new_stop_requested_at,
    stop_acknowledged_at = new_stop_acknowledged_at,
    stop_completed_at = new_stop_completed_at,
    stop_updated_at = new_stop_updated_at
  WHERE r.org_id = org AND r.id = run;
  IF new_status <> old.status THEN
    UPDATE runs.projects p SET
      runs_running = p.runs_running + (new_status = 'running')::integer - (old.status = 'running')::integer,
      runs_finished = p.runs_finished + (new_status = 'finished')::integer - (old.status = 'finished')::integer,
      runs_failed = p.runs_failed + (new_status = 'failed')::integer - (old.status = 'failed')::integer
    WHERE p.org_id = org AND p.id = old.project_id;
  END IF;
END
$$;

GRANT USAGE ON SCHEMA runs TO tidemark_control;
GRANT CREATE ON SCHEMA runs TO tidemark_runs;
DO $$
DECLARE
  exported regprocedure;
BEGIN
  FOR exported IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'runs'::regnamespace AND proname IN ('lock_state_v1', 'set_state_v1')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', exported);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidemark_runs, tidemark_control', exported);
    EXECUTE format('ALTER FUNCTION %s OWNER TO tidemark_runs', exported);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA runs FROM tidemark_runs;
