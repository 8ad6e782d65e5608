-- Archives of complete exports that are brought back.
CREATE TABLE imports.archives (
  org_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- SHA-256 of the idempotency key; null: none
  key_hash bytea CHECK (octet_length(key_hash) = 32),
  status text COLLATE "C" NOT NULL DEFAULT 'receiving' CHECK (status IN ('receiving', 'restoring', 'restored', 'failed')),
  -- for whom it is restored: tidemark.common.v1.Identity
  identity bytea NOT NULL,
  -- staged
  pieces integer NOT NULL DEFAULT 0,
  staged_bytes bigint NOT NULL DEFAULT 0,
  -- the restore: what rows get other ids, packed; null until that is decided
  ids bytea,
  pieces_done integer NOT NULL DEFAULT 0,
  -- JSON array of texts
  warnings text NOT NULL DEFAULT '[]',
  -- packed JSON, when it has ended
  answer bytea,
  error_code text COLLATE "C",
  error_message text,
  error_position integer,
  fence integer NOT NULL DEFAULT 0,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX archives_of_key ON imports.archives (org_id, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX archives_to_work_on ON imports.archives (leased_until) WHERE status = 'restoring';
CREATE INDEX archives_old ON imports.archives (updated_at) WHERE status <> 'restoring';

-- Whole lines, about a megabyte.
CREATE TABLE imports.archive_pieces (
  org_id uuid NOT NULL,
  archive_id uuid NOT NULL,
  number integer NOT NULL CHECK (number >= 0),
  first_line integer NOT NULL,
  lines integer NOT NULL,
  -- of what came
  content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
  -- the beginning of a piece, of an archive that broke off
  is_part boolean NOT NULL,
  -- packed; null when the archive is restored
  content bytea,
  -- packed: what its lines define and name
  facts bytea,
  PRIMARY KEY (org_id, archive_id, number)
);
ALTER TABLE imports.archive_pieces ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE imports.archive_pieces ALTER COLUMN facts SET STORAGE EXTERNAL;

DO $$
DECLARE
  fenced text;
BEGIN
  FOREACH fenced IN ARRAY ARRAY['archives', 'archive_pieces'] LOOP
    PERFORM platform.fence(format('imports.%I', fenced)::regclass);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON imports.%I TO tidemark_imports', fenced);
  END LOOP;
END
$$;

-- The worker sees which archives have work, in all organizations, and nothing of what is in them.
GRANT SELECT (org_id, id, status, leased_until, updated_at) ON imports.archives TO tidemark_imports_worker;
SELECT platform.unfence_for('imports.archives', 'tidemark_imports_worker');
