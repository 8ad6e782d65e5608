-- Attributes are only ever added: the newest row of a path is its value. The id ascends with time and
-- is unique in the organization.
CREATE TABLE ingest.attributes (
  org_id uuid NOT NULL,
  id bigint NOT NULL,
  run_id uuid NOT NULL,
  path text COLLATE "C" NOT NULL CHECK (octet_length(path) BETWEEN 1 AND 512),
  type text COLLATE "C" NOT NULL CHECK (type IN
    ('config', 'float_series', 'string_series', 'file', 'file_series', 'histogram_series', 'tag')),
  step double precision,
  logged_at timestamptz NOT NULL,
  value json NOT NULL,
  summary json NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id)
);

COMMENT ON COLUMN ingest.attributes.logged_at IS 'the client''s time, created_at when it sent none';
COMMENT ON COLUMN ingest.attributes.value IS 'json, not jsonb, which would change the digits of numbers';

-- The order of the list.
CREATE INDEX attributes_of_run ON ingest.attributes (org_id, run_id, step NULLS FIRST, id);

SELECT platform.fence('ingest.attributes');
GRANT SELECT, INSERT ON ingest.attributes TO tidemark_ingest;

-- Stores one request of attributes, in one round trip: inserted, or not_found as ingest.append_metrics
-- says. The rows get the ids from `first_id` on; one that is taken fails the transaction. NaN stands
-- for no step, null for no time.
CREATE FUNCTION ingest.append_attributes(
  org uuid, run uuid, run_known boolean, only_project uuid, first_id bigint,
  paths text[], types text[], steps double precision[], logged text[], documents text[], summaries text[],
  OUT outcome text, OUT run_project uuid, OUT stored_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT run_known THEN
    run_project := ingest.visible_project(org, run, only_project);
    IF run_project IS NULL THEN
      outcome := 'not_found';
      RETURN;
    END IF;
  END IF;

  stored_at := now();
  INSERT INTO ingest.attributes (org_id, id, run_id, path, type, step, logged_at, value, summary, created_at)
  SELECT org, first_id + a.n - 1, run, a.path, a.type, nullif(a.step, 'NaN'),
         coalesce(a.logged_at::timestamptz, stored_at), a.document::json, a.summary::json, stored_at
  FROM unnest(paths, types, steps, logged, documents, summaries)
       WITH ORDINALITY AS a (path, type, step, logged_at, document, summary, n);
  outcome := 'inserted';
END
$$;
REVOKE ALL ON FUNCTION ingest.append_attributes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_attributes TO tidemark_ingest;
