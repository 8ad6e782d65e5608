CREATE SCHEMA reports;
GRANT USAGE ON SCHEMA reports TO tidemark_reports, tidemark_reports_worker, tidemark_definer;

-- What lists show of a report. Its blocks are elsewhere, so that no list reads them.
CREATE TABLE reports.reports (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  -- as the author sent it; such a project need not exist
  project_id uuid,
  title text COLLATE "C" NOT NULL CHECK (octet_length(title) BETWEEN 1 AND 512),
  description text CHECK (octet_length(description) BETWEEN 1 AND 512),
  visibility text COLLATE "C" NOT NULL CHECK (visibility IN ('private', 'org', 'public')),
  -- null: an API key wrote it
  author_user_id uuid,
  block_count integer NOT NULL CHECK (block_count >= 0),
  -- of all grids, and the bytes of their JSON
  panel_count integer NOT NULL CHECK (panel_count >= 0),
  panel_bytes integer NOT NULL CHECK (panel_bytes >= 0),
  -- of the share token: its public id, and SHA-256 of its text
  share_id text COLLATE "C",
  share_hash bytea CHECK (octet_length(share_hash) = 32),
  share_issued_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz,
  CHECK ((share_id IS NULL) = (share_hash IS NULL)),
  CHECK ((share_id IS NULL) = (share_issued_at IS NULL)),
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 85);
-- Those of whole organizations are by time without a zone, so that no plan for one project walks them: with few rows, or few statistics, they would
-- look as good as its own.
CREATE INDEX reports_newest ON reports.reports (org_id, (updated_at AT TIME ZONE 'UTC') DESC, title, id) WHERE deleted_at IS NULL;
CREATE INDEX reports_newest_of_project ON reports.reports (org_id, project_id, updated_at DESC, title, id)
  WHERE deleted_at IS NULL;
CREATE INDEX reports_with_panels ON reports.reports (org_id, (created_at AT TIME ZONE 'UTC') DESC, id DESC)
  WHERE deleted_at IS NULL AND panel_count > 0;
CREATE INDEX reports_with_panels_of_project ON reports.reports (org_id, project_id, created_at DESC, id DESC)
  WHERE deleted_at IS NULL AND panel_count > 0;
CREATE UNIQUE INDEX reports_shared ON reports.reports (share_id) WHERE share_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX reports_public ON reports.reports (id) WHERE visibility = 'public' AND deleted_at IS NULL;

-- The blocks of a report as they were written, and its panels by themselves.
CREATE TABLE reports.documents (
  org_id uuid NOT NULL,
  report_id uuid NOT NULL,
  -- a JSON array
  blocks text NOT NULL,
  -- JSON objects, and the place of each in its grid
  panels text[] NOT NULL,
  panel_indexes integer[] NOT NULL CHECK (cardinality(panel_indexes) = cardinality(panels)),
  PRIMARY KEY (org_id, report_id)
);

-- How many reports there are that are not deleted, of an organization (its row has a project of zeros) and of each project.
CREATE TABLE reports.report_counts (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  reports bigint NOT NULL CHECK (reports >= 0),
  PRIMARY KEY (org_id, project_id)
) WITH (fillfactor = 70);

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['reports', 'documents', 'report_counts'] LOOP
    PERFORM platform.fence(format('reports.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON reports.%I TO tidemark_reports', fenced);
  END LOOP;
END
$$;

-- Look-ups by somebody from outside, across organizations. They tell whose report it is and nothing of what is in it.
GRANT SELECT (org_id, id, visibility, share_id, share_hash, share_issued_at, deleted_at) ON reports.reports TO tidemark_definer;
SELECT platform.unfence_for('reports.reports', 'tidemark_definer');

CREATE FUNCTION reports.find_shared(wanted_share_id text)
  RETURNS TABLE (org_id uuid, id uuid, hash bytea, issued_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT r.org_id, r.id, r.share_hash, r.share_issued_at FROM reports.reports r
  WHERE r.share_id = wanted_share_id AND r.share_id IS NOT NULL AND r.deleted_at IS NULL
$$;
COMMENT ON FUNCTION reports.find_shared IS 'The report whose share token has this id, in whatever organization.';

CREATE FUNCTION reports.find_public(wanted_id uuid) RETURNS TABLE (org_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT r.org_id FROM reports.reports r WHERE r.id = wanted_id AND r.visibility = 'public' AND r.deleted_at IS NULL
$$;
COMMENT ON FUNCTION reports.find_public IS 'The organization of a public report.';

-- A function goes to a role that may create in its schema; the right is needed for this moment only.
GRANT CREATE ON SCHEMA reports TO tidemark_definer;
DO $$
DECLARE
  name regprocedure;
BEGIN
  FOREACH name IN ARRAY ARRAY['reports.find_shared(text)', 'reports.find_public(uuid)']::regprocedure[] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tidemark_reports', name);
    EXECUTE format('ALTER FUNCTION %s OWNER TO tidemark_definer', name);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA reports FROM tidemark_definer;
