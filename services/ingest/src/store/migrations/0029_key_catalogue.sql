-- What the runs service reads to list the keys of a project, and what it keeps of attributes.

CREATE VIEW ingest.project_series_v1 WITH (security_invoker = true) AS
SELECT p.org_id, p.project_id, sum(p.series)::bigint AS series FROM ingest.project_points p GROUP BY p.org_id, p.project_id;
COMMENT ON VIEW ingest.project_series_v1 IS
  'How many pairs of run and metric key a project has ever had. A project without metrics has no row.';
GRANT SELECT ON ingest.project_series_v1 TO tidemark_runs;
GRANT SELECT (series) ON ingest.project_points TO tidemark_runs;

CREATE FUNCTION ingest.attribute_paths_v1(org uuid, run uuid) RETURNS TABLE (path text)
  LANGUAGE sql STABLE AS $$
  WITH RECURSIVE paths AS (
    (SELECT a.path FROM ingest.attributes a WHERE a.org_id = org AND a.run_id = run ORDER BY a.path LIMIT 1)
    UNION ALL
    SELECT (SELECT a.path FROM ingest.attributes a WHERE a.org_id = org AND a.run_id = run AND a.path > p.path ORDER BY a.path LIMIT 1)
    FROM paths p WHERE p.path IS NOT NULL
  )
  SELECT p.path FROM paths p WHERE p.path IS NOT NULL
$$;
COMMENT ON FUNCTION ingest.attribute_paths_v1 IS
  'Returns the paths of the attributes of a run, each once. Jumps over the older rows of a path, of which a run may have '
  'a hundred thousand.';
REVOKE ALL ON FUNCTION ingest.attribute_paths_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.attribute_paths_v1 TO tidemark_runs;

CREATE FUNCTION ingest.note_attributes() RETURNS trigger
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  noted record;
BEGIN
  FOR noted IN
    SELECT n.org_id, array_agg(n.run_id) AS runs, array_agg(n.id) AS ids, array_agg(n.path) AS paths, array_agg(n.value::text) AS documents
    FROM new_attributes n
    WHERE EXISTS (SELECT FROM runs.kept_paths_v1 k WHERE k.org_id = n.org_id AND k.path = n.path OFFSET 0)
    GROUP BY n.org_id
  LOOP
    PERFORM runs.note_attributes_v1(noted.org_id, noted.runs, noted.ids, noted.paths, noted.documents);
  END LOOP;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION ingest.note_attributes IS 'Tells the runs service of new values that it keeps, in the statement that writes them.';
CREATE TRIGGER attributes_note AFTER INSERT ON ingest.attributes REFERENCING NEW TABLE AS new_attributes
  FOR EACH STATEMENT EXECUTE FUNCTION ingest.note_attributes();
