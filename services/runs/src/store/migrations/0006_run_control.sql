-- What the control service keeps in memory of runs, so that training processes that ask whether
-- they should stop cost no query: a snapshot of running runs, then what changed.

-- The transaction that last changed status or stop request. Null: none since this column is there.
ALTER TABLE runs.runs ADD COLUMN changed_xid xid8;
ALTER TABLE runs.runs ALTER COLUMN changed_xid SET DEFAULT pg_current_xact_id();
COMMENT ON COLUMN runs.runs.changed_xid IS 'set by default and trigger, so that no writer of runs can forget it';

CREATE FUNCTION runs.mark_change() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  NEW.changed_xid := pg_current_xact_id();
  RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION runs.mark_change() FROM PUBLIC;
CREATE TRIGGER runs_mark_change BEFORE UPDATE ON runs.runs
  FOR EACH ROW
  WHEN ((OLD.status, OLD.stop_state, OLD.stop_request_id, OLD.stop_requested_at, OLD.stop_acknowledged_at)
        IS DISTINCT FROM
        (NEW.status, NEW.stop_state, NEW.stop_request_id, NEW.stop_requested_at, NEW.stop_acknowledged_at))
  EXECUTE FUNCTION runs.mark_change();

-- Across organizations, by their very purpose; only the definer's functions below read by it.
CREATE INDEX runs_changed ON runs.runs (changed_xid, id) WHERE changed_xid IS NOT NULL;
CREATE INDEX runs_running ON runs.runs (org_id, id) WHERE status = 'running';

-- Where a run's control stands, for the control service: of its transaction's organization only,
-- because the view checks rights and rows as the reader.
CREATE VIEW runs.run_control_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
  FROM runs.runs;
GRANT SELECT (org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at)
  ON runs.runs TO tidemark_control;
GRANT SELECT ON runs.run_control_v1 TO tidemark_control;

GRANT SELECT (org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at,
              changed_xid),
      UPDATE (changed_xid)
  ON runs.runs TO tidemark_definer;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_policy
                 WHERE polrelid = 'runs.runs'::regclass AND polname = 'all_for_tidemark_definer') THEN
    PERFORM platform.unfence_for('runs.runs', 'tidemark_definer');
  END IF;
END
$$;

-- A page of running runs of all organizations, in the order of (org_id, id), after the given place.
-- The snapshot that saw them comes with every row, and in a row of its own when there is none. Here and
-- below the plan is the one by the index: what is asked for is few rows at the end of very many, which
-- statistics do not say.
CREATE FUNCTION runs.running_page_v1(after_org uuid, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT pg_current_snapshot()::text, p.*
  FROM (SELECT) always
  LEFT JOIN LATERAL (
    SELECT r.org_id, r.id, r.project_id, r.status, r.stop_state, r.stop_request_id, r.stop_requested_at,
           r.stop_acknowledged_at
    FROM runs.runs r
    WHERE r.status = 'running' AND (r.org_id, r.id) > (after_org, after_run)
    ORDER BY r.org_id, r.id LIMIT page_size
  ) p ON true;
END
$$;

-- A page of the runs whose last change the given snapshot did not see, whatever their status, in the
-- order of (changed_xid, id), after the given place. A reader that goes on with the snapshot of its
-- first page misses nothing, in whatever order transactions commit, and gets nothing twice.
CREATE FUNCTION runs.changed_page_v1(since pg_snapshot, after_xid xid8, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, changed_xid text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT pg_current_snapshot()::text, p.*
  FROM (SELECT) always
  LEFT JOIN LATERAL (
    SELECT r.changed_xid::text, r.org_id, r.id, r.project_id, r.status, r.stop_state, r.stop_request_id,
           r.stop_requested_at, r.stop_acknowledged_at
    FROM runs.runs r
    -- The first condition follows from the second, but only the first shows that the index will do.
    WHERE r.changed_xid >= after_xid AND (r.changed_xid, r.id) > (after_xid, after_run)
      AND NOT pg_visible_in_snapshot(r.changed_xid, since)
    ORDER BY r.changed_xid, r.id LIMIT page_size
  ) p ON true;
END
$$;

-- Rows that came from another server (a restored dump) carry transaction numbers that this one has
-- not reached; every look for changes would return them until it has. Gives some of them a number of
-- this server, and returns how many.
CREATE FUNCTION runs.adopt_changes_v1(batch integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  adopted bigint;
BEGIN
  UPDATE runs.runs r SET changed_xid = pg_current_xact_id()
  FROM (SELECT f.org_id, f.id FROM runs.runs f
        WHERE f.changed_xid >= pg_snapshot_xmax(pg_current_snapshot())
        ORDER BY f.changed_xid, f.id LIMIT batch) due
  WHERE r.org_id = due.org_id AND r.id = due.id AND r.changed_xid >= pg_snapshot_xmax(pg_current_snapshot());
  GET DIAGNOSTICS adopted = ROW_COUNT;
  RETURN adopted;
END
$$;

GRANT CREATE ON SCHEMA runs TO tidemark_definer;
DO $$
DECLARE
  exported record;
BEGIN
  FOR exported IN
    SELECT oid::regprocedure AS name,
           CASE proname WHEN 'adopt_changes_v1' THEN 'tidemark_control_worker' ELSE 'tidemark_control' END AS reader
    FROM pg_proc
    WHERE pronamespace = 'runs'::regnamespace AND proname IN ('running_page_v1', 'changed_page_v1', 'adopt_changes_v1')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', exported.name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', exported.name, exported.reader);
    EXECUTE format('ALTER FUNCTION %s OWNER TO tidemark_definer', exported.name);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT USAGE ON SCHEMA runs TO tidemark_control_worker;
