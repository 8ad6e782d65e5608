-- Who reads a view: its owner, or every member of the organization.
ALTER TABLE reports.views
  ADD COLUMN visibility text COLLATE "C" NOT NULL DEFAULT 'private' CHECK (visibility IN ('private', 'organization'));
CREATE INDEX views_shared ON reports.views (org_id, updated_at DESC, name, id) WHERE deleted_at IS NULL AND visibility = 'organization';
