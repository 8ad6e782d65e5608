-- What other services may read of attributes: the value of each path of a run, which is its newest
-- row, by path.
CREATE INDEX attributes_by_path ON ingest.attributes (org_id, run_id, path, id DESC);

-- A page of the paths of some runs after `after_path`, run by run, each with its newest value. Of a
-- run come at most `rows_each` paths, and, after a first one of any size, at most `bytes_each` bytes
-- of JSON; of all runs together at most `bytes_all` bytes. Where a run has more, its next path follows
-- with null for its value: all values of the paths before the least of those are in the page.
-- A function and no view, because it can count bytes, and because it jumps over the older rows of a
-- path, of which a run may have a hundred thousand; a few dozen at a time, so that paths with one row
-- do not cost a jump each.
CREATE FUNCTION ingest.newest_attributes_v1(
  org uuid, run_ids uuid[], after_path text, rows_each integer, bytes_each bigint, bytes_all bigint
) RETURNS TABLE (place integer, path text, value json)
  LANGUAGE plpgsql STABLE AS $$
DECLARE
  batch constant integer := 64;
  reached text;
  rows_left integer;
  bytes_left bigint;
  bytes bigint;
  scanned integer;
BEGIN
  FOR at IN 1 .. cardinality(run_ids) LOOP
    place := at;
    reached := after_path;
    rows_left := rows_each;
    bytes_left := bytes_each;
    <<batches>>
    LOOP
      scanned := 0;
      FOR path, value IN
        SELECT a.path, a.value FROM ingest.attributes a
        WHERE a.org_id = org AND a.run_id = run_ids[at] AND a.path > reached
        ORDER BY a.path, a.id DESC LIMIT batch
      LOOP
        scanned := scanned + 1;
        CONTINUE WHEN path = reached;
        bytes := octet_length(value::text);
        IF rows_left = 0 OR bytes > bytes_all OR (bytes > bytes_left AND rows_left < rows_each) THEN
          value := NULL;
          RETURN NEXT;
          EXIT batches;
        END IF;
        RETURN NEXT;
        reached := path;
        rows_left := rows_left - 1;
        bytes_left := bytes_left - bytes;
        bytes_all := bytes_all - bytes;
      END LOOP;
      EXIT WHEN scanned < batch;
    END LOOP;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.newest_attributes_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.newest_attributes_v1 TO tidemark_runs;
GRANT SELECT (org_id, id, run_id, path, value) ON ingest.attributes TO tidemark_runs;
