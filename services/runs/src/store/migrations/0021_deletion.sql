-- Runs and projects are deleted by a mark, can be restored for some time, and are hidden meanwhile. The policy of row
-- level security hides them, so that no statement of any service can forget to.

ALTER TABLE runs.projects
  ADD COLUMN deleted_at timestamptz,
  ADD COLUMN purge_after timestamptz,
  ADD COLUMN runs_deleted bigint NOT NULL DEFAULT 0 CHECK (runs_deleted >= 0),
  ADD COLUMN unsettled boolean NOT NULL DEFAULT false,
  ADD COLUMN texts_behind boolean NOT NULL DEFAULT false,
  ADD CHECK ((deleted_at IS NULL) = (purge_after IS NULL));
COMMENT ON COLUMN runs.projects.purge_after IS 'when everything is removed; until then the project can be restored';
COMMENT ON COLUMN runs.projects.runs_deleted IS 'its runs that are hidden; the other counters are of those that are not';
COMMENT ON COLUMN runs.projects.texts_behind IS 'what searches read of some of its runs has an earlier name of the project';
COMMENT ON COLUMN runs.projects.unsettled IS 'some of its runs are not yet hidden, or shown again, as the project is';

-- The name of a deleted project is free.
ALTER TABLE runs.projects DROP CONSTRAINT projects_org_id_name_key;
ALTER TABLE runs.projects ADD CONSTRAINT projects_name UNIQUE NULLS NOT DISTINCT (org_id, name, deleted_at);
CREATE INDEX projects_unsettled ON runs.projects (org_id, id) WHERE unsettled OR texts_behind;

ALTER TABLE runs.runs
  ADD COLUMN hidden boolean NOT NULL DEFAULT false,
  ADD COLUMN deleted_at timestamptz,
  ADD COLUMN purge_after timestamptz,
  ADD CHECK ((deleted_at IS NULL) = (purge_after IS NULL)),
  ADD CHECK (hidden OR deleted_at IS NULL);
COMMENT ON COLUMN runs.runs.hidden IS 'it was deleted, or its project was';
COMMENT ON COLUMN runs.runs.deleted_at IS 'when the run itself was deleted; null for one that is hidden with its project';
CREATE INDEX runs_deleted ON runs.runs (org_id, created_at DESC, id DESC) WHERE deleted_at IS NOT NULL;
-- What is left to show again of a restored project.
CREATE INDEX runs_hidden_with_project ON runs.runs (org_id, project_id, id) WHERE hidden AND deleted_at IS NULL;

ALTER POLICY tenant ON runs.projects
  USING (org_id = platform.org_id() AND (deleted_at IS NULL OR platform.sees_deleted()));
ALTER POLICY tenant ON runs.runs
  USING (org_id = platform.org_id() AND (NOT hidden OR platform.sees_deleted()));

GRANT UPDATE (name, description, deleted_at, purge_after, runs_deleted, unsettled, texts_behind) ON runs.projects TO tidemark_runs;
GRANT UPDATE (name, hidden, deleted_at, purge_after) ON runs.runs TO tidemark_runs;
-- Searches know nothing of a hidden run.
GRANT DELETE ON runs.run_texts TO tidemark_runs;

-- Processes that keep runs in memory learn of a run that was hidden or shown again by the same way as of other changes.
DROP TRIGGER runs_mark_change ON runs.runs;
CREATE TRIGGER runs_mark_change BEFORE UPDATE ON runs.runs
  FOR EACH ROW
  WHEN ((OLD.status, OLD.stop_state, OLD.stop_request_id, OLD.stop_requested_at, OLD.stop_acknowledged_at, OLD.hidden)
        IS DISTINCT FROM
        (NEW.status, NEW.stop_state, NEW.stop_request_id, NEW.stop_requested_at, NEW.stop_acknowledged_at, NEW.hidden))
  EXECUTE FUNCTION runs.mark_change();

GRANT SELECT (hidden, deleted_at, created_at) ON runs.runs TO tidemark_definer;
GRANT SELECT (deleted_at) ON runs.projects TO tidemark_definer;

CREATE OR REPLACE FUNCTION runs.running_page_v1(after_org uuid, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, r.org_id, r.id, r.project_id, CASE WHEN r.hidden THEN 'deleted' ELSE r.status END, r.stop_state,
           r.stop_request_id, r.stop_requested_at, r.stop_acknowledged_at
    FROM runs.runs r
    WHERE r.status = 'running' AND (r.org_id, r.id) > (after_org, after_run)
    ORDER BY r.org_id, r.id LIMIT page_size;
END
$$;

CREATE OR REPLACE FUNCTION runs.changed_page_v1(since pg_snapshot, after_xid xid8, after_run uuid, page_size integer)
  RETURNS TABLE (snapshot text, changed_xid text, org_id uuid, id uuid, project_id uuid, status text, stop_state text,
                 stop_request_id uuid, stop_requested_at timestamptz, stop_acknowledged_at timestamptz)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
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
      SELECT NULL::text, r.changed_xid::text, r.org_id, r.id, r.project_id,
             CASE WHEN r.hidden THEN 'deleted' ELSE r.status END, r.stop_state, r.stop_request_id, r.stop_requested_at,
             r.stop_acknowledged_at
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
COMMENT ON FUNCTION runs.running_page_v1 IS
  'Returns a page of running runs of all organizations, in the order (org_id, id), behind the given position. Hidden '
  'ones have the status deleted. The first row has the snapshot that saw them and no run. The plan is fixed to the '
  'index: a few rows are wanted at the end of very many, which statistics do not say.';
COMMENT ON FUNCTION runs.changed_page_v1 IS
  'Returns a page of the runs whose last change the given snapshot did not see, whatever their status, in the order '
  '(changed_xid, id), behind the given position. Hidden ones have the status deleted. The first row has the snapshot '
  'that saw them and no run. A reader that goes on with the snapshot of its first page misses nothing, in whatever order '
  'transactions commit, and gets nothing twice.';

-- What other services keep in memory of runs is that they exist, and they keep that for good; so they poll what was
-- hidden or shown again.
CREATE TABLE runs.visibility_changes (
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  run_id uuid,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE runs.visibility_changes IS
  'Runs that were hidden or shown again within the last hours; no run: all of the project.';
CREATE INDEX visibility_changes_newest ON runs.visibility_changes (xid);
SELECT platform.fence('runs.visibility_changes');
SELECT platform.unfence_for('runs.visibility_changes', 'tidemark_definer');
GRANT INSERT ON runs.visibility_changes TO tidemark_runs;
GRANT SELECT, DELETE ON runs.visibility_changes TO tidemark_definer;

CREATE FUNCTION runs.visibility_changes_v1(since pg_snapshot)
  RETURNS TABLE (snapshot text, org_id uuid, project_id uuid, run_id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  snapshot := pg_current_snapshot()::text;
  RETURN NEXT;
  RETURN QUERY
    SELECT NULL::text, c.org_id, c.project_id, c.run_id FROM runs.visibility_changes c
    WHERE c.xid >= pg_snapshot_xmin(since) AND NOT pg_visible_in_snapshot(c.xid, since);
END
$$;
COMMENT ON FUNCTION runs.visibility_changes_v1 IS
  'Returns what was hidden or shown again, of all organizations, and the given snapshot did not see; nothing for null. '
  'The first row has the snapshot to go on with. Reaches back some hours.';

CREATE FUNCTION runs.forget_visibility_changes(older_than interval) RETURNS void
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM runs.visibility_changes c WHERE c.at < clock_timestamp() - older_than;
$$;
COMMENT ON FUNCTION runs.forget_visibility_changes IS 'Removes old rows, which all readers have seen.';

SELECT platform.unfence_for('runs.projects', 'tidemark_definer');
GRANT SELECT (org_id, id, unsettled, texts_behind) ON runs.projects TO tidemark_definer;
CREATE FUNCTION runs.unsettled_projects() RETURNS TABLE (org_id uuid, id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT p.org_id, p.id FROM runs.projects p WHERE p.unsettled OR p.texts_behind ORDER BY p.org_id, p.id LIMIT 100;
$$;
COMMENT ON FUNCTION runs.unsettled_projects IS 'Returns projects of any organizations whose runs do not all follow the project yet.';

CREATE FUNCTION runs.deleted_runs(org uuid, project uuid) RETURNS TABLE (id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT r.id FROM runs.runs r
  CROSS JOIN LATERAL (SELECT FROM runs.projects p
                      WHERE p.org_id = r.org_id AND p.id = r.project_id AND p.deleted_at IS NULL OFFSET 0) live
  WHERE r.org_id = org AND org = platform.org_id() AND r.deleted_at IS NOT NULL AND (project IS NULL OR r.project_id = project);
$$;
COMMENT ON FUNCTION runs.deleted_runs IS
  'Returns the runs that were deleted themselves, of a project or of all projects that are not deleted, so that counters '
  'which still hold them can be corrected.';

-- Quotas and usage count what is deleted until it is removed, so this reads with the rights of its owner, which no policy
-- holds, and does the policy's work by its own condition.
GRANT SELECT (runs_running, runs_finished, runs_failed, runs_deleted) ON runs.projects TO tidemark_definer;
CREATE OR REPLACE VIEW runs.usage_v1 WITH (security_invoker = false) AS
  SELECT p.org_id, count(*) AS projects,
         sum(p.runs_running + p.runs_finished + p.runs_failed + p.runs_deleted)::bigint AS runs
  FROM runs.projects p WHERE p.org_id = platform.org_id() GROUP BY p.org_id;
COMMENT ON VIEW runs.usage_v1 IS
  'How many projects and runs the organization has, deleted ones included; no row: none. With the rights of its owner, a '
  'role without login, because row level security hides what is deleted. Compares the organization itself.';
GRANT SELECT ON runs.usage_v1 TO tidemark_runs;

REVOKE ALL ON FUNCTION runs.visibility_changes_v1, runs.forget_visibility_changes, runs.unsettled_projects, runs.deleted_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.visibility_changes_v1 TO tidemark_ingest, tidemark_artifacts, tidemark_traces;
GRANT EXECUTE ON FUNCTION runs.forget_visibility_changes, runs.unsettled_projects, runs.deleted_runs TO tidemark_runs;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.visibility_changes_v1 OWNER TO tidemark_definer;
ALTER FUNCTION runs.forget_visibility_changes OWNER TO tidemark_definer;
ALTER FUNCTION runs.deleted_runs OWNER TO tidemark_definer;
ALTER FUNCTION runs.unsettled_projects OWNER TO tidemark_definer;
ALTER VIEW runs.usage_v1 OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT USAGE ON SCHEMA runs TO tidemark_definer;

-- As before, with the deleted runs in the count for the plan and in the numbers of names.
CREATE OR REPLACE FUNCTION runs.create_runs(org uuid, project_name text, only_project uuid, runs_max bigint, ids uuid[],
  names text[], name_words text[], configs text[], tag_lists text[], metadatas text[], fingerprints bytea[])
RETURNS TABLE(run uuid, project uuid, run_name text, at timestamp with time zone)
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  home uuid;
  taken uuid[];
  numbered bigint;
  since timestamptz;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT p.id INTO home FROM runs.projects p
  WHERE p.org_id = org AND p.name = project_name AND (only_project IS NULL OR p.id = only_project);
  IF home IS NULL THEN
    RETURN;
  END IF;
  IF runs_max IS NOT NULL THEN
    IF runs_max < (SELECT u.runs FROM runs.usage_v1 u WHERE u.org_id = org) THEN
      RETURN;
    END IF;
  END IF;
  taken := ARRAY(SELECT runs.take_run_ids(ids, org));
  IF taken = '{}' THEN
    RETURN;
  END IF;

  -- From here until the commit creates in this project wait for each other. The time is read after that wait, so that
  -- it rises with the number.
  UPDATE runs.projects p SET runs_running = p.runs_running + cardinality(taken)
  WHERE p.org_id = org AND p.id = home
  RETURNING p.runs_running + p.runs_finished + p.runs_failed + p.runs_deleted - cardinality(taken), clock_timestamp()
  INTO STRICT numbered, since;

  RETURN QUERY
  INSERT INTO runs.runs AS r (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                              create_fingerprint)
  SELECT org, n.id, home, coalesce(n.name, n.words || '-' || numbered + n.place), 'running', n.config,
         ARRAY(SELECT json_array_elements_text(n.tags::json)), n.metadata, n.at, n.at, n.fingerprint
  FROM (
    SELECT u.*, since + u.place * interval '1 microsecond' AS at
    FROM (
      SELECT w.*, row_number() OVER (ORDER BY w.ordinal) AS place
      FROM unnest(ids, names, name_words, configs, tag_lists, metadatas, fingerprints)
           WITH ORDINALITY AS w (id, name, words, config, tags, metadata, fingerprint, ordinal)
      WHERE w.id = ANY (taken)
    ) u
  ) n
  ORDER BY n.place
  RETURNING r.id, r.project_id, r.name, r.created_at;
END
$function$;

-- As before, but never into a project that was deleted meanwhile.
CREATE OR REPLACE FUNCTION runs.restore_runs(org uuid, home uuid, archived json)
RETURNS integer
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
  IF taken <> '{}' AND NOT FOUND THEN
    RAISE no_data_found USING MESSAGE = 'the project is gone';
  END IF;

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

-- As before, and the name of a run, which can change.
CREATE OR REPLACE FUNCTION runs.index_changed_run() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET gin_pending_list_limit = 256 AS $$
DECLARE
  texts runs.run_texts;
  old_state text := CASE WHEN OLD.display_status <> OLD.status THEN OLD.status ELSE '' END;
  new_state text := CASE WHEN NEW.display_status <> NEW.status THEN NEW.status ELSE '' END;
BEGIN
  texts := runs.texts_of(NEW, (SELECT p.name FROM runs.projects p WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id));
  UPDATE runs.run_texts t SET status = texts.status, display_status = texts.display_status, irregular = texts.irregular,
    name = texts.name, tags = texts.tags, notes = texts.notes, summary = texts.summary, metadata = texts.metadata
  WHERE t.org_id = NEW.org_id AND t.run_id = NEW.id;
  IF old_state <> new_state THEN
    UPDATE runs.projects p SET
      runs_stopping = p.runs_stopping + (new_state = 'running')::integer - (old_state = 'running')::integer,
      runs_finished_stopped = p.runs_finished_stopped + (new_state = 'finished')::integer - (old_state = 'finished')::integer,
      runs_failed_stopped = p.runs_failed_stopped + (new_state = 'failed')::integer - (old_state = 'failed')::integer
    WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id;
  END IF;
  RETURN NULL;
END
$$;
DROP TRIGGER runs_index_changed ON runs.runs;
CREATE TRIGGER runs_index_changed AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.display_status <> NEW.display_status OR OLD.name <> NEW.name
                     OR OLD.tags <> NEW.tags OR OLD.metadata <> NEW.metadata)
  EXECUTE FUNCTION runs.index_changed_run();
