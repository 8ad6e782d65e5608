-- Rich objects: tables, media, histograms, evaluations. Histograms and texts that were logged as attributes have a row
-- too, under the id of their attribute, so that all lists of objects read one table; their documents are the attribute's.
CREATE TABLE ingest.objects (
  org_id uuid NOT NULL,
  id bigint NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 512),
  kind text COLLATE "C" NOT NULL CHECK (kind IN
    ('table', 'image', 'video', 'audio', 'histogram', 'classification_eval', 'text')),
  from_attribute boolean NOT NULL,
  step double precision CHECK (step >= 0),
  order_step double precision NOT NULL GENERATED ALWAYS AS (coalesce(step, '-Infinity')) STORED,
  artifact_id uuid,
  value json,
  metadata json,
  summary json,
  bytes integer NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, id),
  CHECK (from_attribute OR kind <> 'text'),
  CHECK (from_attribute = (value IS NULL) AND from_attribute = (metadata IS NULL) AND from_attribute = (summary IS NULL))
);
COMMENT ON COLUMN ingest.objects.id IS 'from the same source as the ids of attributes';
COMMENT ON COLUMN ingest.objects.order_step IS 'the step as lists order by it: none is below all';
COMMENT ON COLUMN ingest.objects.bytes IS 'of key, value, metadata and summary, without the rows of a table';

-- Lists go by kind, because then the rarest kind is found as fast as the most common one: a list of several kinds merges
-- one walk for each.
CREATE INDEX objects_of_run ON ingest.objects (org_id, run_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE INDEX objects_of_project ON ingest.objects (org_id, project_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE INDEX objects_of_org ON ingest.objects (org_id, kind, order_step DESC, created_at DESC, id DESC);
CREATE INDEX objects_by_key ON ingest.objects (org_id, run_id, key, order_step DESC, created_at DESC, id DESC)
  WHERE kind <> 'text';

-- Rows of tables, a hundred in a chunk as packed columns.
CREATE TABLE ingest.table_chunks (
  org_id uuid NOT NULL,
  object_id bigint NOT NULL,
  chunk smallint NOT NULL,
  rows bytea NOT NULL,
  PRIMARY KEY (org_id, object_id, chunk)
);
COMMENT ON COLUMN ingest.table_chunks.chunk IS 'counted from 0';
COMMENT ON COLUMN ingest.table_chunks.rows IS
  'a byte, 0 for plain and 1 for Zstandard, and then the message tidemark.ingest.v1.TableChunk';
-- They are compressed already.
ALTER TABLE ingest.table_chunks ALTER COLUMN rows SET STORAGE EXTERNAL;

-- Files, and how much lists would have to read.
ALTER TABLE ingest.attributes ADD COLUMN artifact_id uuid;
ALTER TABLE ingest.attributes ADD COLUMN bytes integer NOT NULL
  GENERATED ALWAYS AS (octet_length(path) + octet_length(value::text) + octet_length(summary::text)) STORED;
COMMENT ON COLUMN ingest.attributes.bytes IS 'of path, value and summary';

-- Histograms and texts that were logged before. Organization by organization, because the runs are fenced from their
-- owner; in a new database there are none.
ALTER TABLE ingest.attributes NO FORCE ROW LEVEL SECURITY;
DO $$
DECLARE
  org uuid;
BEGIN
  IF to_regclass('runs.run_refs_v1') IS NULL THEN
    RETURN;
  END IF;
  FOR org IN
    SELECT DISTINCT a.org_id FROM ingest.attributes a WHERE a.type IN ('histogram_series', 'string_series')
  LOOP
    PERFORM platform.enter_org(org);
    EXECUTE '
      INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, bytes, created_at)
      SELECT a.org_id, a.id, a.run_id, r.project_id, a.path,
             CASE a.type WHEN ''string_series'' THEN ''text'' ELSE ''histogram'' END, true, a.step, a.bytes, a.created_at
      FROM ingest.attributes a JOIN runs.run_refs_v1 r ON r.org_id = a.org_id AND r.id = a.run_id
      WHERE a.org_id = $1 AND a.type IN (''histogram_series'', ''string_series'')' USING org;
  END LOOP;
END
$$;
ALTER TABLE ingest.attributes FORCE ROW LEVEL SECURITY;

SELECT platform.fence('ingest.objects');
SELECT platform.fence('ingest.table_chunks');
GRANT SELECT, INSERT ON ingest.objects, ingest.table_chunks TO tidemark_ingest;

DROP FUNCTION ingest.append_attributes;
CREATE FUNCTION ingest.append_attributes(
  org uuid, run uuid, project uuid, first_id bigint, paths text[], types text[], steps double precision[],
  logged text[], documents text[], summaries text[], artifacts text[],
  OUT outcome text, OUT place integer, OUT stored_at timestamptz
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM platform.enter_org(org);
  IF cardinality(artifacts) > 0 THEN
    SELECT a.n INTO place FROM unnest(artifacts) WITH ORDINALITY AS a (id, n)
    WHERE a.id IS NOT NULL AND NOT EXISTS (
      SELECT FROM artifacts.artifacts_v1 v WHERE v.org_id = org AND v.id = a.id::uuid AND v.run_id = run OFFSET 0)
    ORDER BY a.n LIMIT 1;
    IF FOUND THEN
      outcome := 'no_artifact';
      RETURN;
    END IF;
  END IF;

  stored_at := now();
  INSERT INTO ingest.attributes
    (org_id, id, run_id, path, type, step, logged_at, value, summary, artifact_id, created_at)
  SELECT org, first_id + a.n - 1, run, a.path, a.type, nullif(a.step, 'NaN'),
         coalesce(a.logged_at::timestamptz, stored_at), a.document::json, a.summary::json, artifacts[a.n]::uuid, stored_at
  FROM unnest(paths, types, steps, logged, documents, summaries)
       WITH ORDINALITY AS a (path, type, step, logged_at, document, summary, n);
  IF types && ARRAY['histogram_series', 'string_series'] THEN
    INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, bytes, created_at)
    SELECT org, first_id + a.n - 1, run, project, a.path,
           CASE a.type WHEN 'string_series' THEN 'text' ELSE 'histogram' END, true, nullif(a.step, 'NaN'),
           octet_length(a.path) + octet_length(a.document) + octet_length(a.summary), stored_at
    FROM unnest(paths, types, steps, documents, summaries)
         WITH ORDINALITY AS a (path, type, step, document, summary, n)
    WHERE a.type IN ('histogram_series', 'string_series');
  END IF;
  outcome := 'inserted';
END
$$;
REVOKE ALL ON FUNCTION ingest.append_attributes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_attributes TO tidemark_ingest;
COMMENT ON FUNCTION ingest.append_attributes IS
  'Stores one request of attributes in one round trip. Outcomes: inserted; no_artifact: the artifact of the attribute at this place, counted from 1, is none of the run. The rows get the ids from first_id on; an id that is taken fails the transaction. NaN stands for no step, null for no time and no artifact; an empty list of artifacts stands for none at all.';

-- A JSON object with further members. The text of both keeps its digits.
CREATE FUNCTION ingest.with_members(document text, members text) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN document = '{}' THEN '{' ELSE left(document, -1) || ',' END || substr(members, 2);
COMMENT ON FUNCTION ingest.with_members IS
  'Adds the members of one JSON object, at least one, to another one that has none of these names. Both are compact.';
REVOKE ALL ON FUNCTION ingest.with_members FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.with_members TO tidemark_ingest;

CREATE FUNCTION ingest.create_object(
  org uuid, run uuid, project uuid, only_project uuid, idempotency_key bytea, idempotency_body bytea, new_id bigint,
  new_kind text, new_key text, new_step double precision, artifact uuid, new_value text, new_metadata text,
  new_summary text, chunks bytea[],
  OUT outcome text, OUT id bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  before record;
  linked record;
BEGIN
  PERFORM platform.enter_org(org);
  IF idempotency_key IS NOT NULL THEN
    SELECT c.same_body, c.reply INTO before FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      outcome := CASE WHEN before.same_body THEN 'replayed' ELSE 'reused' END;
      id := CASE WHEN before.same_body THEN ('x' || encode(before.reply, 'hex'))::bit(64)::bigint END;
      RETURN;
    END IF;
  END IF;

  IF artifact IS NOT NULL THEN
    SELECT v.run_id, v.name, v.uri, v.mime_type, v.size_bytes, v.step INTO linked
    FROM artifacts.artifacts_v1 v WHERE v.org_id = org AND v.id = artifact;
    IF NOT FOUND OR ingest.visible_project(org, linked.run_id, only_project) IS NULL THEN
      outcome := 'no_artifact';
      RETURN;
    END IF;
    IF linked.run_id <> run THEN
      outcome := 'other_run';
      RETURN;
    END IF;
    IF new_value IS NULL THEN
      new_step := coalesce(new_step, linked.step);
      new_value := '{"kind":' || to_json(new_kind) || ',"uri":' || to_json(linked.uri) || ',"metadata":' || new_metadata || '}';
      new_summary := ingest.with_members(new_summary,
        '{"artifact_name":' || to_json(linked.name) || ',"artifact_uri":' || to_json(linked.uri)
        || ',"mime_type":' || to_json(linked.mime_type)
        || ',"size_bytes":' || coalesce(linked.size_bytes::text, 'null') || '}');
    END IF;
  END IF;

  -- Another process may have taken the id for an attribute in the same millisecond.
  IF EXISTS (SELECT FROM ingest.attributes a WHERE a.org_id = org AND a.id = new_id) THEN
    RAISE unique_violation;
  END IF;
  INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, artifact_id, value, metadata,
                              summary, bytes, created_at)
  VALUES (org, new_id, run, project, new_key, new_kind, false, new_step, artifact, new_value::json, new_metadata::json,
          new_summary::json,
          octet_length(new_key) + octet_length(new_value) + octet_length(new_metadata) + octet_length(new_summary), now());
  INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows)
  SELECT org, new_id, c.n - 1, c.rows FROM unnest(chunks) WITH ORDINALITY AS c (rows, n);

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int8send(new_id));
  END IF;
  outcome := 'inserted';
  id := new_id;
END
$$;
REVOKE ALL ON FUNCTION ingest.create_object FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.create_object TO tidemark_ingest;
COMMENT ON FUNCTION ingest.create_object IS
  'Stores an object with the rows of a table in one round trip. Outcomes: inserted; replayed: a repeat of a stored request, with its id; reused: the idempotency key belongs to another request; no_artifact: there is none that lies in only_project; other_run: it is of another run. Without a value the object is a medium, whose value and summary come from its artifact. An id that is taken fails the transaction.';
