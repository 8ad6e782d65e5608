-- Saved views of the workspace. A deleted one stays without its payload, so that whoever still wants to change it learns that somebody was first.
CREATE TABLE reports.views (
  org_id uuid NOT NULL,
  id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 512),
  project text COLLATE "C" CHECK (octet_length(project) BETWEEN 1 AND 512),
  -- a JSON object
  payload text NOT NULL CHECK (octet_length(payload) <= 65536),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- each change gives a later one
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deleted_at timestamptz,
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 85);
CREATE INDEX views_newest ON reports.views (org_id, owner_user_id, updated_at DESC, name, id) WHERE deleted_at IS NULL;

-- How many views there are that are not deleted, of an organization (its row has a user of zeros) and of each user.
CREATE TABLE reports.view_counts (
  org_id uuid NOT NULL,
  owner_user_id uuid NOT NULL,
  views integer NOT NULL CHECK (views >= 0),
  PRIMARY KEY (org_id, owner_user_id)
) WITH (fillfactor = 70);

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['views', 'view_counts'] LOOP
    PERFORM platform.fence(format('reports.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON reports.%I TO tidemark_reports', fenced);
  END LOOP;
END
$$;
