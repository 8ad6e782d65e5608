-- What is past its time of grace is removed by all services, each its own rows, and last by the service that owns it.
CREATE TABLE platform.removals (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  org_id uuid NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('run', 'project', 'organization')),
  id uuid NOT NULL,
  project_id uuid,
  owner text COLLATE "C" NOT NULL,
  waiting text[] COLLATE "C" NOT NULL,
  begun_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, kind, id),
  CHECK ((kind = 'run') = (project_id IS NOT NULL))
);
COMMENT ON TABLE platform.removals IS 'What is being removed for good.';
COMMENT ON COLUMN platform.removals.xid IS 'the transaction that began the removal: writes that were open then may still add to it';
COMMENT ON COLUMN platform.removals.id IS 'of the run, the project or the organization';
COMMENT ON COLUMN platform.removals.project_id IS 'of a run';
COMMENT ON COLUMN platform.removals.owner IS 'the service that removes its rows when the others have removed theirs';
COMMENT ON COLUMN platform.removals.waiting IS 'the services that may still have rows, without the owner';
CREATE INDEX removals_in_order ON platform.removals (xid, id);
SELECT platform.fence('platform.removals');
SELECT platform.unfence_for('platform.removals', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON platform.removals TO tidemark_definer;

CREATE FUNCTION platform.begin_removals(org uuid, of_kind text, ids uuid[], project uuid, of_owner text, others text[])
  RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO platform.removals (org_id, kind, id, project_id, owner, waiting)
  SELECT org, of_kind, u.id, project, of_owner, others FROM unnest(ids) AS u (id)
  ON CONFLICT DO NOTHING;
$$;
COMMENT ON FUNCTION platform.begin_removals IS
  'Asks the services to remove what they have of runs of a project, of a project or of an organization.';

CREATE FUNCTION platform.due_removals(of_service text, after_xid xid8, after_id uuid, rows_max integer)
  RETURNS TABLE (xid text, org_id uuid, kind text, id uuid, project_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.xid::text, r.org_id, r.kind, r.id, r.project_id FROM platform.removals r
  WHERE (r.xid, r.id) > (after_xid, after_id)
    -- Greater numbers came with a dump from another server, whose transactions are not open here.
    AND (r.xid < pg_snapshot_xmin(pg_current_snapshot()) OR r.xid >= pg_snapshot_xmax(pg_current_snapshot()))
    AND (of_service = ANY (r.waiting) OR (r.owner = of_service AND r.waiting = '{}'))
  ORDER BY r.xid, r.id LIMIT rows_max;
$$;
COMMENT ON FUNCTION platform.due_removals IS
  'Returns a page of what a service has to remove now, the oldest first, behind the given place. A removal is due when '
  'every transaction has ended that was open when it began, so that nothing is written to it afterwards.';

CREATE FUNCTION platform.finish_removal(of_service text, org uuid, of_kind text, of_id uuid) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM platform.removals r
  WHERE r.org_id = org AND r.kind = of_kind AND r.id = of_id AND r.owner = of_service AND r.waiting = '{}';
  IF NOT FOUND THEN
    UPDATE platform.removals r SET waiting = array_remove(r.waiting, of_service)
    WHERE r.org_id = org AND r.kind = of_kind AND r.id = of_id AND of_service = ANY (r.waiting);
  END IF;
END
$$;
COMMENT ON FUNCTION platform.finish_removal IS 'Tells that a service has nothing left of it. The owner''s word ends the removal.';

REVOKE ALL ON FUNCTION platform.begin_removals, platform.due_removals, platform.finish_removal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION platform.begin_removals TO tidemark_runs_worker, tidemark_control_worker;
GRANT EXECUTE ON FUNCTION platform.due_removals, platform.finish_removal TO tidemark_artifacts_worker,
  tidemark_control_worker, tidemark_imports_worker, tidemark_ingest_worker, tidemark_reports_worker,
  tidemark_runs_worker, tidemark_traces_worker, tidemark_usage_worker;
GRANT CREATE ON SCHEMA platform TO tidemark_definer;
ALTER FUNCTION platform.begin_removals OWNER TO tidemark_definer;
ALTER FUNCTION platform.due_removals OWNER TO tidemark_definer;
ALTER FUNCTION platform.finish_removal OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA platform FROM tidemark_definer;
