-- Which objects of an archive got which ids, until it is restored: rows of a table come after it.
CREATE TABLE ingest.restored_objects (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  -- as the archive has it
  old_id bigint NOT NULL,
  new_id bigint NOT NULL,
  PRIMARY KEY (org_id, archive_id, old_id)
);
SELECT platform.fence('ingest.restored_objects');
GRANT SELECT, INSERT, DELETE ON ingest.restored_objects TO tidemark_ingest;
-- The last chunk of a table takes more rows while the table is restored.
GRANT UPDATE (rows) ON ingest.table_chunks TO tidemark_ingest;
