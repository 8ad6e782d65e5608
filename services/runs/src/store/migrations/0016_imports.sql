-- Stores runs that began elsewhere, with the times that they had there, and counts them. Those whose ids are taken are left as they are, so that a
-- repeat changes nothing. Returns how many were stored.
CREATE FUNCTION runs.import_runs(org uuid, home uuid, ids uuid[], names text[], statuses text[], configs text[], tag_lists text[],
  metadatas text[], started_us double precision[], finished_us double precision[])
RETURNS integer
LANGUAGE plpgsql
SET plan_cache_mode TO 'force_generic_plan'
SET enable_seqscan TO 'off'
AS $function$
DECLARE
  taken uuid[];
  since timestamptz;
BEGIN
  taken := ARRAY(SELECT runs.take_run_ids(ids, org));
  IF taken = '{}' THEN
    RETURN 0;
  END IF;
  UPDATE runs.projects p SET
    runs_running = p.runs_running + c.running, runs_finished = p.runs_finished + c.finished, runs_failed = p.runs_failed + c.failed
  FROM (SELECT count(*) FILTER (WHERE w.status = 'running') AS running, count(*) FILTER (WHERE w.status = 'finished') AS finished,
               count(*) FILTER (WHERE w.status = 'failed') AS failed
        FROM unnest(ids, statuses) AS w (id, status) WHERE w.id = ANY (taken)) c
  WHERE p.org_id = org AND p.id = home
  RETURNING clock_timestamp() INTO STRICT since;

  INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at)
  SELECT org, t.id, home, t.name, t.status, t.config, ARRAY(SELECT json_array_elements_text(t.tags::json)), t.metadata, t.at, t.begun,
         CASE WHEN t.status <> 'running' THEN greatest(coalesce(t.ended, t.at), t.begun) END
  FROM (
    SELECT w.*, n.at, coalesce(b.begun, e.ended, n.at) AS begun, e.ended
    FROM unnest(ids, names, statuses, configs, tag_lists, metadatas, started_us, finished_us)
         WITH ORDINALITY AS w (id, name, status, config, tags, metadata, began_us, ended_us, ordinal)
    CROSS JOIN LATERAL (SELECT since + w.ordinal * interval '1 microsecond' AS at) n
    CROSS JOIN LATERAL (SELECT CASE WHEN w.began_us <> 'NaN' THEN timestamptz 'epoch' + w.began_us * interval '1 microsecond' END AS begun) b
    CROSS JOIN LATERAL (SELECT CASE WHEN w.ended_us <> 'NaN' AND w.status <> 'running'
                                    THEN timestamptz 'epoch' + w.ended_us * interval '1 microsecond' END AS ended) e
    WHERE w.id = ANY (taken)
  ) t
  ORDER BY t.ordinal;
  RETURN cardinality(taken);
END
$function$;
REVOKE ALL ON FUNCTION runs.import_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.import_runs TO tidemark_runs;

-- Import jobs find the project of a name.
GRANT USAGE ON SCHEMA runs TO tidemark_imports;
GRANT SELECT (org_id, id, name) ON runs.projects TO tidemark_imports;
GRANT SELECT ON runs.project_refs_v1 TO tidemark_imports;
