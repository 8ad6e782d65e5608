-- The bytes that imports and archives have staged, for the quota of storage. Sixteen rows for each organization, so that
-- its requests rarely wait for each other; kept by triggers, so that they are exact whatever removes what was staged.
CREATE TABLE imports.staged (
  org_id uuid NOT NULL,
  slot smallint NOT NULL CHECK (slot BETWEEN 0 AND 15),
  bytes bigint NOT NULL,
  PRIMARY KEY (org_id, slot)
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
COMMENT ON TABLE imports.staged IS 'packed contents that are held: the sum over the slots, each of which may be negative';
COMMENT ON COLUMN imports.staged.slot IS 'of the connection that writes; a transaction writes one';

CREATE FUNCTION imports.add_staged(org uuid, added bigint) RETURNS void
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  INSERT INTO imports.staged AS s (org_id, slot, bytes) VALUES (org, pg_backend_pid() % 16, added)
  ON CONFLICT (org_id, slot) DO UPDATE SET bytes = s.bytes + excluded.bytes;
END
$$;
COMMENT ON FUNCTION imports.add_staged IS 'Adds to the staged bytes of an organization.';
REVOKE ALL ON FUNCTION imports.add_staged FROM PUBLIC;
GRANT EXECUTE ON FUNCTION imports.add_staged TO tidemark_imports;

-- The tables have their contents stored apart and not compressed: their lengths are known without reading them.
CREATE FUNCTION imports.count_staged() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM imports.add_staged(d.org_id, d.bytes)
    FROM (SELECT n.org_id, sum(octet_length(n.content)) AS bytes FROM now_staged n GROUP BY n.org_id ORDER BY n.org_id) d
    WHERE d.bytes <> 0;
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM imports.add_staged(d.org_id, -d.bytes)
    FROM (SELECT o.org_id, sum(octet_length(o.content)) AS bytes FROM was_staged o GROUP BY o.org_id ORDER BY o.org_id) d
    WHERE d.bytes <> 0;
  ELSE
    PERFORM imports.add_staged(d.org_id, d.bytes)
    FROM (SELECT c.org_id, sum(c.bytes)::bigint AS bytes FROM (
            SELECT n.org_id, octet_length(n.content) AS bytes FROM now_staged n
            UNION ALL
            SELECT o.org_id, -octet_length(o.content) FROM was_staged o
          ) c GROUP BY c.org_id ORDER BY c.org_id) d
    WHERE d.bytes <> 0;
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION imports.count_staged IS 'Counts what a statement has staged or removed.';
REVOKE ALL ON FUNCTION imports.count_staged FROM PUBLIC;

-- They lock the tables against writers until everything is counted.
DO $$
DECLARE
  counted text;
BEGIN
  FOREACH counted IN ARRAY ARRAY['chunks', 'archive_pieces'] LOOP
    EXECUTE format('CREATE TRIGGER %1$s_count_added AFTER INSERT ON imports.%1$s
      REFERENCING NEW TABLE AS now_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged()', counted);
    EXECUTE format('CREATE TRIGGER %1$s_count_changed AFTER UPDATE ON imports.%1$s
      REFERENCING OLD TABLE AS was_staged NEW TABLE AS now_staged
      FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged()', counted);
    EXECUTE format('CREATE TRIGGER %1$s_count_removed AFTER DELETE ON imports.%1$s
      REFERENCING OLD TABLE AS was_staged FOR EACH STATEMENT EXECUTE FUNCTION imports.count_staged()', counted);
    EXECUTE format('ALTER TABLE imports.%s NO FORCE ROW LEVEL SECURITY', counted);
  END LOOP;
  INSERT INTO imports.staged (org_id, slot, bytes)
  SELECT h.org_id, 0, sum(h.bytes) FROM (
    SELECT c.org_id, octet_length(c.content) AS bytes FROM imports.chunks c WHERE c.content IS NOT NULL
    UNION ALL
    SELECT p.org_id, octet_length(p.content) FROM imports.archive_pieces p WHERE p.content IS NOT NULL
  ) h GROUP BY h.org_id;
  FOREACH counted IN ARRAY ARRAY['chunks', 'archive_pieces'] LOOP
    EXECUTE format('ALTER TABLE imports.%s FORCE ROW LEVEL SECURITY', counted);
  END LOOP;
END
$$;

SELECT platform.fence('imports.staged');
GRANT SELECT, INSERT, UPDATE ON imports.staged TO tidemark_imports;

CREATE VIEW imports.usage_v1 WITH (security_invoker = true) AS
  SELECT s.org_id, sum(s.bytes)::bigint AS staged_bytes FROM imports.staged s GROUP BY s.org_id;
COMMENT ON VIEW imports.usage_v1 IS
  'The bytes of chunks and of pieces of archives that wait for the end of their imports; no row: there never were any.';
GRANT USAGE ON SCHEMA imports TO tidemark_usage;
GRANT SELECT ON imports.staged, imports.usage_v1 TO tidemark_usage;
