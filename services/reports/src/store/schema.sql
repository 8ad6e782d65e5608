-- Schema reports: what a new database starts with.

CREATE SCHEMA reports;
GRANT USAGE ON SCHEMA reports TO tidemark_definer, tidemark_reports, tidemark_reports_worker, tidemark_usage;
-- To own what follows; taken back at the end.
GRANT CREATE ON SCHEMA reports TO tidemark_definer;

CREATE TABLE reports.documents (
  org_id uuid NOT NULL,
  report_id uuid NOT NULL,
  blocks text NOT NULL,
  panels text[] NOT NULL,
  panel_indexes integer[] NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(blocks)) STORED NOT NULL,
  CONSTRAINT documents_pkey PRIMARY KEY (org_id, report_id),
  CONSTRAINT documents_check CHECK (cardinality(panel_indexes) = cardinality(panels))
);
COMMENT ON COLUMN reports.documents.bytes IS 'of the blocks; the panels are parts of them';
SELECT platform.fence('reports.documents');
SELECT platform.count_stored('reports.documents', 'reports');
GRANT SELECT (org_id, bytes) ON TABLE reports.documents TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.documents TO tidemark_reports;

CREATE TABLE reports.embed_sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  project_id uuid,
  scopes text[] NOT NULL,
  token_hash bytea NOT NULL,
  allowed_parent_origin text COLLATE "C" NOT NULL,
  run_ids uuid[] NOT NULL,
  theme text COLLATE "C" NOT NULL,
  panels_max smallint NOT NULL,
  points_max smallint NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT embed_sessions_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT embed_sessions_allowed_parent_origin_check CHECK (octet_length(allowed_parent_origin) >= 1 AND octet_length(allowed_parent_origin) <= 512),
  CONSTRAINT embed_sessions_panels_max_check CHECK (panels_max >= 1 AND panels_max <= 8),
  CONSTRAINT embed_sessions_points_max_check CHECK (points_max >= 1 AND points_max <= 500),
  CONSTRAINT embed_sessions_run_ids_check CHECK (cardinality(run_ids) >= 1 AND cardinality(run_ids) <= 100),
  CONSTRAINT embed_sessions_theme_check CHECK (theme IN ('light', 'dark', 'system')),
  CONSTRAINT embed_sessions_token_hash_check CHECK (octet_length(token_hash) = 32)
);
CREATE INDEX embed_sessions_by_end ON reports.embed_sessions (org_id, expires_at) INCLUDE (key_id);
CREATE UNIQUE INDEX embed_sessions_by_id ON reports.embed_sessions (id);
SELECT platform.fence('reports.embed_sessions');
SELECT platform.unfence_for('reports.embed_sessions', 'tidemark_definer');
GRANT SELECT ON TABLE reports.embed_sessions TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.embed_sessions TO tidemark_reports;

CREATE TABLE reports.embed_turns (
  org_id uuid NOT NULL,
  turn bigint NOT NULL,
  CONSTRAINT embed_turns_pkey PRIMARY KEY (org_id)
) WITH (fillfactor=70);
SELECT platform.fence('reports.embed_turns');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.embed_turns TO tidemark_reports;

CREATE TABLE reports.preferences (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  selected_project text COLLATE "C",
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT preferences_pkey PRIMARY KEY (org_id, user_id),
  CONSTRAINT preferences_selected_project_check CHECK (octet_length(selected_project) >= 1 AND octet_length(selected_project) <= 512)
) WITH (fillfactor=70);
SELECT platform.fence('reports.preferences');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.preferences TO tidemark_reports;

CREATE TABLE reports.report_counts (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  reports bigint NOT NULL,
  CONSTRAINT report_counts_pkey PRIMARY KEY (org_id, project_id),
  CONSTRAINT report_counts_reports_check CHECK (reports >= 0)
) WITH (fillfactor=70);
SELECT platform.fence('reports.report_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.report_counts TO tidemark_reports;

CREATE TABLE reports.reports (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  project_id uuid,
  title text COLLATE "C" NOT NULL,
  description text,
  visibility text COLLATE "C" NOT NULL,
  author_user_id uuid,
  block_count integer NOT NULL,
  panel_count integer NOT NULL,
  panel_bytes integer NOT NULL,
  share_id text COLLATE "C",
  share_hash bytea,
  share_issued_at timestamptz,
  share_extent text COLLATE "C",
  share_frozen boolean DEFAULT false NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  deleted_at timestamptz,
  bytes integer GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL
    THEN octet_length(title) + coalesce(octet_length(description), 0) ELSE 0 END) STORED NOT NULL,
  CONSTRAINT reports_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT reports_block_count_check CHECK (block_count >= 0),
  CONSTRAINT reports_check CHECK ((share_id IS NULL) = (share_hash IS NULL)),
  CONSTRAINT reports_check1 CHECK ((share_id IS NULL) = (share_issued_at IS NULL)),
  CONSTRAINT reports_check2 CHECK ((share_id IS NULL) = (share_extent IS NULL)),
  CONSTRAINT reports_check3 CHECK (NOT share_frozen OR share_extent = 'data'),
  CONSTRAINT reports_description_check CHECK (octet_length(description) >= 1 AND octet_length(description) <= 512),
  CONSTRAINT reports_panel_bytes_check CHECK (panel_bytes >= 0),
  CONSTRAINT reports_panel_count_check CHECK (panel_count >= 0),
  CONSTRAINT reports_share_extent_check CHECK (share_extent IN ('blocks', 'data')),
  CONSTRAINT reports_share_hash_check CHECK (octet_length(share_hash) = 32),
  CONSTRAINT reports_title_check CHECK (octet_length(title) >= 1 AND octet_length(title) <= 512),
  CONSTRAINT reports_visibility_check CHECK (visibility IN ('private', 'org', 'public'))
) WITH (fillfactor=85);
CREATE INDEX reports_newest ON reports.reports (org_id, (updated_at AT TIME ZONE 'UTC') DESC, title,
  id) WHERE deleted_at IS NULL;
CREATE INDEX reports_newest_of_project ON reports.reports (org_id, project_id, updated_at DESC, title,
  id) WHERE deleted_at IS NULL;
CREATE INDEX reports_public ON reports.reports (id) WHERE visibility = 'public' AND deleted_at IS NULL;
CREATE UNIQUE INDEX reports_shared ON reports.reports (share_id) WHERE share_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX reports_with_panels ON reports.reports (org_id, (created_at AT TIME ZONE 'UTC') DESC,
  id DESC) WHERE deleted_at IS NULL AND panel_count > 0;
CREATE INDEX reports_with_panels_of_project ON reports.reports (org_id, project_id, created_at DESC,
  id DESC) WHERE deleted_at IS NULL AND panel_count > 0;
ALTER TABLE reports.reports ENABLE ROW LEVEL SECURITY;
ALTER TABLE reports.reports FORCE ROW LEVEL SECURITY;
SELECT platform.unfence_for('reports.reports', 'tidemark_definer');
SELECT platform.count_stored('reports.reports', 'reports');
COMMENT ON COLUMN reports.reports.bytes IS 'of title and description; a deleted report cannot be restored, and does not count';
GRANT SELECT (org_id, bytes) ON TABLE reports.reports TO tidemark_usage;
CREATE POLICY tenant ON reports.reports
  USING (org_id = platform.org_id() AND (project_id IS NULL OR platform.sees_deleted() OR NOT (project_id IN ( SELECT d.id
   FROM runs.deleted_projects_v1(platform.org_id()) d(id)))))
  WITH CHECK (org_id = platform.org_id());
GRANT SELECT (org_id, id, visibility, share_id, share_hash, share_issued_at,
  deleted_at) ON TABLE reports.reports TO tidemark_definer;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.reports TO tidemark_reports;

CREATE TABLE reports.shared_data (
  org_id uuid NOT NULL,
  report_id uuid NOT NULL,
  data text NOT NULL,
  bytes integer GENERATED ALWAYS AS (octet_length(data)) STORED NOT NULL,
  CONSTRAINT shared_data_pkey PRIMARY KEY (org_id, report_id)
);
COMMENT ON TABLE reports.shared_data IS 'the data of the panels of a report as they were when it was shared with frozen data';
SELECT platform.fence('reports.shared_data');
SELECT platform.count_stored('reports.shared_data', 'reports');
GRANT SELECT (org_id, bytes) ON TABLE reports.shared_data TO tidemark_usage;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.shared_data TO tidemark_reports;

CREATE TABLE reports.view_counts (
  org_id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  views integer NOT NULL,
  CONSTRAINT view_counts_pkey PRIMARY KEY (org_id, owner_user_id),
  CONSTRAINT view_counts_views_check CHECK (views >= 0)
) WITH (fillfactor=70);
SELECT platform.fence('reports.view_counts');
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.view_counts TO tidemark_reports;

CREATE TABLE reports.views (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL,
  project text COLLATE "C",
  payload text NOT NULL,
  created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
  deleted_at timestamptz,
  visibility text COLLATE "C" DEFAULT 'private' NOT NULL,
  bytes integer GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL
    THEN octet_length(name) + coalesce(octet_length(project), 0) + octet_length(payload) ELSE 0 END) STORED NOT NULL,
  CONSTRAINT views_pkey PRIMARY KEY (org_id, id),
  CONSTRAINT views_name_check CHECK (octet_length(name) >= 1 AND octet_length(name) <= 512),
  CONSTRAINT views_payload_check CHECK (octet_length(payload) <= 65536),
  CONSTRAINT views_project_check CHECK (octet_length(project) >= 1 AND octet_length(project) <= 512),
  CONSTRAINT views_visibility_check CHECK (visibility IN ('private', 'organization'))
) WITH (fillfactor=85);
CREATE INDEX views_newest ON reports.views (org_id, owner_user_id, updated_at DESC, name, id) WHERE deleted_at IS NULL;
CREATE INDEX views_shared ON reports.views (org_id, updated_at DESC, name,
  id) WHERE deleted_at IS NULL AND visibility = 'organization';
ALTER TABLE reports.views ENABLE ROW LEVEL SECURITY;
ALTER TABLE reports.views FORCE ROW LEVEL SECURITY;
SELECT platform.count_stored('reports.views', 'reports');
COMMENT ON COLUMN reports.views.bytes IS 'of name, project and payload; of a deleted view none';
GRANT SELECT (org_id, bytes) ON TABLE reports.views TO tidemark_usage;
CREATE POLICY tenant ON reports.views
  USING (org_id = platform.org_id() AND (project IS NULL OR platform.sees_deleted() OR NOT runs.names_deleted_project_v1(org_id, project)))
  WITH CHECK (org_id = platform.org_id());
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE reports.views TO tidemark_reports;

CREATE VIEW reports.stored_rows_v1 WITH (security_invoker = true) AS
  SELECT r.org_id, 'reports'::text AS kind, r.bytes::bigint AS amount FROM reports.reports r
  UNION ALL SELECT d.org_id, 'reports', d.bytes FROM reports.documents d
  UNION ALL SELECT s.org_id, 'reports', s.bytes FROM reports.shared_data s
  UNION ALL SELECT v.org_id, 'reports', v.bytes FROM reports.views v;
COMMENT ON VIEW reports.stored_rows_v1 IS
  'The logical bytes of each row that is stored, of those of deleted projects where the transaction sees these. Reads '
  'everything: for recounts.';
GRANT SELECT ON TABLE reports.stored_rows_v1 TO tidemark_usage;

CREATE FUNCTION reports.find_embed(wanted_id uuid)
RETURNS TABLE(org_id uuid, id uuid, key_id text, project_id uuid, scopes text[], token_hash bytea,
  allowed_parent_origin text, run_ids uuid[], theme text, panels_max integer, points_max integer,
  expires_at timestamp with time zone, expired boolean)
LANGUAGE sql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT s.org_id, s.id, s.key_id, s.project_id, s.scopes, s.token_hash, s.allowed_parent_origin, s.run_ids, s.theme,
         s.panels_max::integer, s.points_max::integer, s.expires_at, s.expires_at <= clock_timestamp()
  FROM reports.embed_sessions s WHERE s.id = wanted_id
$function$;
COMMENT ON FUNCTION reports.find_embed IS 'The embed session with this id, in any organization.';
REVOKE ALL ON FUNCTION reports.find_embed FROM PUBLIC;
ALTER FUNCTION reports.find_embed OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION reports.find_embed TO tidemark_reports;

CREATE FUNCTION reports.find_public(wanted_id uuid)
RETURNS TABLE(org_id uuid)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN QUERY
    SELECT r.org_id FROM reports.reports r
    WHERE r.id = wanted_id AND r.visibility = 'public' AND r.deleted_at IS NULL AND NOT control.is_deleted_v1(r.org_id);
END
$function$;
COMMENT ON FUNCTION reports.find_public IS 'The organization of a public report.';
REVOKE ALL ON FUNCTION reports.find_public FROM PUBLIC;
ALTER FUNCTION reports.find_public OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION reports.find_public TO tidemark_reports;

CREATE FUNCTION reports.find_shared(wanted_share_id text)
RETURNS TABLE(org_id uuid, id uuid, hash bytea, issued_at timestamp with time zone)
LANGUAGE plpgsql
STABLE SECURITY DEFINER
SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
BEGIN
  RETURN QUERY
    SELECT r.org_id, r.id, r.share_hash, r.share_issued_at FROM reports.reports r
    WHERE r.share_id = wanted_share_id AND r.share_id IS NOT NULL AND r.deleted_at IS NULL AND NOT control.is_deleted_v1(r.org_id);
END
$function$;
COMMENT ON FUNCTION reports.find_shared IS 'The report whose share token has this id, in any organization.';
REVOKE ALL ON FUNCTION reports.find_shared FROM PUBLIC;
ALTER FUNCTION reports.find_shared OWNER TO tidemark_definer;
GRANT EXECUTE ON FUNCTION reports.find_shared TO tidemark_reports;

REVOKE CREATE ON SCHEMA reports FROM tidemark_definer;
