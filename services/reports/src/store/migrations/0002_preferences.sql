-- What a user chose in the dashboard of an organization.
CREATE TABLE reports.preferences (
  org_id uuid NOT NULL,
  user_id uuid NOT NULL,
  selected_project text COLLATE "C" CHECK (octet_length(selected_project) BETWEEN 1 AND 512),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, user_id)
) WITH (fillfactor = 70);
SELECT platform.fence('reports.preferences');
GRANT SELECT, INSERT, UPDATE, DELETE ON reports.preferences TO tidemark_reports;
