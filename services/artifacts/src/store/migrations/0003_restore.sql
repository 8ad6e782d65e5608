-- Rows of an archive whose bytes are to come.
CREATE TABLE artifacts.wanted_bytes (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  sha256 bytea NOT NULL CHECK (octet_length(sha256) = 32),
  -- an artifact or an entry of a version
  row_id uuid NOT NULL,
  is_entry boolean NOT NULL,
  project_id uuid NOT NULL,
  size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
  has_come boolean NOT NULL DEFAULT false,
  PRIMARY KEY (org_id, archive_id, sha256, row_id)
);
SELECT platform.fence('artifacts.wanted_bytes');
GRANT SELECT, INSERT, UPDATE ON artifacts.wanted_bytes TO tidemark_artifacts;
