-- The pages that control processes read of runs say their snapshot once, are walks of an index whatever the statistics
-- say, and cost what they return, also while a transaction stays open for long.

-- A reader takes the snapshot from the first row and skips rows without a run, as the one before this migration did.
CREATE OR REPLACE FUNCTION runs.running_page_v1(after_org uuid, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, r.org_id, r.id, r.project_id, r.status, r.stop_state, r.stop_request_id, r.stop_requested_at,
           r.stop_acknowledged_at
    FROM runs.runs r
    WHERE r.status = 'running' AND (r.org_id, r.id) > (after_org, after_run)
    ORDER BY r.org_id, r.id LIMIT page_size;
END
$$;
COMMENT ON FUNCTION runs.running_page_v1 IS
  'Returns a page of running runs of all organizations, in the order (org_id, id), behind the given position. The '
  'first row has the snapshot that saw them and no run. The plan is fixed to the index: a few rows are wanted at the '
  'end of very many, which statistics do not say.';

CREATE OR REPLACE FUNCTION runs.changed_page_v1(since pg_snapshot, after_xid xid8, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, changed_xid text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  left_over integer := page_size;
  returned integer;
  first_xid xid8;
  last_xid xid8;
  first_run uuid;
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  -- Exactly what pg_visible_in_snapshot denies: the changes of transactions that were open then, and of those that began
  -- later. Those between them, of all the time that the oldest was open, the reader has.
  FOR first_xid, last_xid IN
    SELECT x, x FROM pg_snapshot_xip(since) AS x WHERE x >= after_xid
    UNION ALL
    SELECT greatest(pg_snapshot_xmax(since), after_xid), '18446744073709551615'
    ORDER BY 1
  LOOP
    first_run := CASE WHEN first_xid = after_xid THEN after_run ELSE '00000000-0000-0000-0000-000000000000' END;
    RETURN QUERY
      SELECT NULL::text, r.changed_xid::text, r.org_id, r.id, r.project_id, r.status, r.stop_state, r.stop_request_id,
             r.stop_requested_at, r.stop_acknowledged_at
      FROM runs.runs r
      -- With one lower bound: of two, PostgreSQL may begin to read at the one that is further away.
      WHERE (r.changed_xid, r.id) >= (first_xid, first_run) AND r.changed_xid <= last_xid
        AND (r.changed_xid <> after_xid OR r.id <> after_run)
      ORDER BY r.changed_xid, r.id LIMIT left_over;
    GET DIAGNOSTICS returned = ROW_COUNT;
    left_over := left_over - returned;
    EXIT WHEN left_over = 0;
  END LOOP;
END
$$;
COMMENT ON FUNCTION runs.changed_page_v1 IS
  'Returns a page of the runs whose last change the given snapshot did not see, whatever their status, in the order '
  '(changed_xid, id), behind the given position. The first row has the snapshot that saw them and no run. A reader that '
  'goes on with the snapshot of its first page misses nothing, in whatever order transactions commit, and gets nothing '
  'twice.';

-- Each run by its key: a join would read all foreign rows once for every batch of them.
CREATE OR REPLACE FUNCTION runs.adopt_changes_v1(batch integer) RETURNS bigint
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  due record;
  adopted bigint := 0;
BEGIN
  FOR due IN
    SELECT f.org_id, f.id FROM runs.runs f
    WHERE f.changed_xid >= pg_snapshot_xmax(pg_current_snapshot())
    ORDER BY f.changed_xid, f.id LIMIT batch
  LOOP
    UPDATE runs.runs r SET changed_xid = pg_current_xact_id()
    WHERE r.org_id = due.org_id AND r.id = due.id AND r.changed_xid >= pg_snapshot_xmax(pg_current_snapshot());
    adopted := adopted + FOUND::integer;
  END LOOP;
  RETURN adopted;
END
$$;
