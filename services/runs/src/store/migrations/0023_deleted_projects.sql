-- What belongs to a project and lies in another schema is hidden with it: policies there ask these functions, which see deleted projects of any
-- organization and tell nothing but that they are deleted.
CREATE INDEX projects_deleted ON runs.projects (org_id, id) WHERE deleted_at IS NOT NULL;

CREATE FUNCTION runs.is_deleted_project_v1(org uuid, project uuid) RETURNS boolean
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.id = project AND p.deleted_at IS NOT NULL);
END
$$;
COMMENT ON FUNCTION runs.is_deleted_project_v1 IS
  'Whether a project is deleted and not removed yet; false for one that is not there, and for null.';

CREATE FUNCTION runs.names_deleted_project_v1(org uuid, project text) RETURNS boolean
  LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  as_id uuid := CASE WHEN project ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN project::uuid END;
BEGIN
  IF EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.name = project AND p.deleted_at IS NULL) THEN
    RETURN false;
  END IF;
  RETURN EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.name = project)
    OR EXISTS (SELECT FROM runs.projects p WHERE p.org_id = org AND p.id = as_id AND p.deleted_at IS NOT NULL);
END
$$;
COMMENT ON FUNCTION runs.names_deleted_project_v1 IS
  'Whether a text is the name or the id of a deleted project, and not the name of one that is not.';

CREATE FUNCTION runs.deleted_projects_v1(org uuid) RETURNS SETOF uuid
  LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY SELECT p.id FROM runs.projects p WHERE p.org_id = org AND p.deleted_at IS NOT NULL;
END
$$;
COMMENT ON FUNCTION runs.deleted_projects_v1 IS 'The projects of an organization that are deleted and not removed yet.';

GRANT SELECT (name) ON runs.projects TO tidemark_definer;
REVOKE ALL ON FUNCTION runs.is_deleted_project_v1, runs.names_deleted_project_v1, runs.deleted_projects_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.is_deleted_project_v1, runs.names_deleted_project_v1, runs.deleted_projects_v1 TO tidemark_reports;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.is_deleted_project_v1 OWNER TO tidemark_definer;
ALTER FUNCTION runs.names_deleted_project_v1 OWNER TO tidemark_definer;
ALTER FUNCTION runs.deleted_projects_v1 OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
