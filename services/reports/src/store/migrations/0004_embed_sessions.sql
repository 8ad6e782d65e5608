-- Embed sessions, each with the rights that its API key had when it made it.
CREATE TABLE reports.embed_sessions (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  project_id uuid,
  scopes text[] NOT NULL,
  -- SHA-256 of the token's text
  token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
  allowed_parent_origin text COLLATE "C" NOT NULL CHECK (octet_length(allowed_parent_origin) BETWEEN 1 AND 512),
  run_ids uuid[] NOT NULL CHECK (cardinality(run_ids) BETWEEN 1 AND 100),
  theme text COLLATE "C" NOT NULL CHECK (theme IN ('light', 'dark', 'system')),
  panels_max smallint NOT NULL CHECK (panels_max BETWEEN 1 AND 8),
  points_max smallint NOT NULL CHECK (points_max BETWEEN 1 AND 500),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);
CREATE INDEX embed_sessions_by_end ON reports.embed_sessions (org_id, expires_at) INCLUDE (key_id);
CREATE UNIQUE INDEX embed_sessions_by_id ON reports.embed_sessions (id);

-- Who makes a session of an organization holds its row, so that two do not take the last place.
CREATE TABLE reports.embed_turns (
  org_id uuid NOT NULL PRIMARY KEY,
  turn bigint NOT NULL
) WITH (fillfactor = 70);

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['embed_sessions', 'embed_turns'] LOOP
    PERFORM platform.fence(format('reports.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON reports.%I TO tidemark_reports', fenced);
  END LOOP;
END
$$;

-- Whoever opens a session is from outside. The service tells nothing of it before it has compared the hashes, but what frames have to know.
GRANT SELECT ON reports.embed_sessions TO tidemark_definer;
SELECT platform.unfence_for('reports.embed_sessions', 'tidemark_definer');

CREATE FUNCTION reports.find_embed(wanted_id uuid)
  RETURNS TABLE (org_id uuid, id uuid, key_id text, project_id uuid, scopes text[], token_hash bytea, allowed_parent_origin text,
                 run_ids uuid[], theme text, panels_max integer, points_max integer, expires_at timestamptz, expired boolean)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT s.org_id, s.id, s.key_id, s.project_id, s.scopes, s.token_hash, s.allowed_parent_origin, s.run_ids, s.theme,
         s.panels_max::integer, s.points_max::integer, s.expires_at, s.expires_at <= clock_timestamp()
  FROM reports.embed_sessions s WHERE s.id = wanted_id
$$;
COMMENT ON FUNCTION reports.find_embed IS 'The embed session with this id, in whatever organization.';

GRANT CREATE ON SCHEMA reports TO tidemark_definer;
REVOKE ALL ON FUNCTION reports.find_embed(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reports.find_embed(uuid) TO tidemark_reports;
ALTER FUNCTION reports.find_embed(uuid) OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA reports FROM tidemark_definer;
