-- Columns of documents that large organizations sort tables by: their values are kept for every run, in the order of the table.

CREATE TABLE runs.kept_columns (
  org_id uuid NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('config', 'attributes')),
  path text COLLATE "C" NOT NULL,
  places text[] NOT NULL,
  attribute_paths text[] COLLATE "C" NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  ready boolean NOT NULL DEFAULT false,
  boundary xid8,
  filled_to uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  PRIMARY KEY (org_id, id),
  UNIQUE (org_id, kind, path)
) WITH (fillfactor = 50);
COMMENT ON COLUMN runs.kept_columns.places IS 'where configs may have the value, as config_value takes it';
COMMENT ON COLUMN runs.kept_columns.attribute_paths IS 'attributes that have the value where the config has none, best first';
COMMENT ON COLUMN runs.kept_columns.asked_at IS 'when a table was last sorted by it; at most an hour older than that';
COMMENT ON COLUMN runs.kept_columns.ready IS 'all runs have their values; until then, those written since it was asked for';
COMMENT ON COLUMN runs.kept_columns.boundary IS
  'transactions with lower numbers may have written without knowing of it; those from it on know it';
COMMENT ON COLUMN runs.kept_columns.filled_to IS 'runs that were there before have their values up to this one';
CREATE INDEX kept_columns_not_ready ON runs.kept_columns (asked_at) WHERE NOT ready;
SELECT platform.fence('runs.kept_columns');
SELECT platform.unfence_for('runs.kept_columns', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON runs.kept_columns TO tidemark_runs;
GRANT SELECT, DELETE ON runs.kept_columns TO tidemark_runs_worker, tidemark_definer;

CREATE TABLE runs.kept_values (
  org_id uuid NOT NULL,
  column_id uuid NOT NULL,
  run_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  num float8,
  txt text COLLATE "C",
  source smallint NOT NULL,
  attribute_id bigint NOT NULL,
  PRIMARY KEY (org_id, column_id, run_id),
  FOREIGN KEY (org_id, column_id) REFERENCES runs.kept_columns (org_id, id) ON DELETE CASCADE
);
COMMENT ON COLUMN runs.kept_values.created_at IS 'when the run was created, which orders equal values';
COMMENT ON COLUMN runs.kept_values.num IS 'as comparable returns it; null where the value has no order';
COMMENT ON COLUMN runs.kept_values.source IS '0 for the config, else the place of the attribute among attribute_paths; the lowest wins';
COMMENT ON COLUMN runs.kept_values.attribute_id IS 'of the attribute, 0 for the config; of one source the highest wins';
CREATE INDEX kept_values_up ON runs.kept_values (org_id, column_id, num, txt, created_at DESC, run_id DESC) WHERE num IS NOT NULL;
CREATE INDEX kept_values_down ON runs.kept_values (org_id, column_id, num, txt, created_at, run_id) WHERE num IS NOT NULL;
SELECT platform.fence('runs.kept_values');
SELECT platform.unfence_for('runs.kept_values', 'tidemark_definer');
GRANT SELECT, INSERT, UPDATE, DELETE ON runs.kept_values TO tidemark_runs;
GRANT SELECT, INSERT, UPDATE ON runs.kept_values TO tidemark_definer;
GRANT SELECT, DELETE ON runs.kept_values TO tidemark_runs_worker;
GRANT EXECUTE ON FUNCTION runs.comparable TO tidemark_definer;

CREATE FUNCTION runs.keep_new_values() RETURNS trigger
  LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT r.org_id, c.id, r.id, r.created_at, k.num, k.txt, 0, 0
  FROM (SELECT DISTINCT n.org_id FROM new_runs n) o
  CROSS JOIN LATERAL (SELECT w.id, w.places FROM runs.kept_columns w
                      WHERE w.org_id = o.org_id AND w.kind = 'config' OFFSET 0) c
  CROSS JOIN LATERAL (SELECT n.* FROM new_runs n WHERE n.org_id = o.org_id) r
  CROSS JOIN LATERAL (SELECT runs.config_value(r.config, c.places) AS value OFFSET 0) d
  CROSS JOIN LATERAL runs.comparable(d.value) k
  WHERE d.value IS NOT NULL
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE SET num = excluded.num, txt = excluded.txt, source = 0, attribute_id = 0
  WHERE v.source > 0;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION runs.keep_new_values IS 'Keeps the values of new runs for the kept columns, in the statement that writes the runs.';
CREATE TRIGGER runs_keep_new_values AFTER INSERT ON runs.runs REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION runs.keep_new_values();

CREATE VIEW runs.kept_paths_v1 WITH (security_invoker = true) AS
SELECT c.org_id, c.id AS column_id, p.path, p.place::smallint AS source
FROM runs.kept_columns c CROSS JOIN LATERAL unnest(c.attribute_paths) WITH ORDINALITY AS p (path, place);
COMMENT ON VIEW runs.kept_paths_v1 IS 'The paths of attributes whose newest values are kept: changes of them go to note_attributes_v1.';
GRANT SELECT (org_id, id, attribute_paths) ON runs.kept_columns TO tidemark_ingest;
GRANT SELECT ON runs.kept_paths_v1 TO tidemark_ingest, tidemark_definer;

CREATE FUNCTION runs.note_attributes_v1(org uuid, run_ids uuid[], ids bigint[], paths text[], documents text[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT DISTINCT ON (p.column_id, a.run_id) org, p.column_id, a.run_id, r.created_at, k.num, k.txt, p.source, a.id
  FROM unnest(run_ids, ids, paths, documents) AS a (run_id, id, path, document)
  CROSS JOIN LATERAL (SELECT w.column_id, w.source FROM runs.kept_paths_v1 w WHERE w.org_id = org AND w.path = a.path OFFSET 0) p
  CROSS JOIN LATERAL (SELECT o.created_at FROM runs.runs o WHERE o.org_id = org AND o.id = a.run_id OFFSET 0) r
  CROSS JOIN LATERAL runs.comparable(a.document::json) k
  WHERE org = platform.org_id()
  ORDER BY p.column_id, a.run_id, p.source, a.id DESC
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE
  SET num = excluded.num, txt = excluded.txt, source = excluded.source, attribute_id = excluded.attribute_id
  WHERE (v.source, -v.attribute_id) > (excluded.source, -excluded.attribute_id);
END
$$;
COMMENT ON FUNCTION runs.note_attributes_v1 IS
  'Keeps the values of new attributes for the kept columns, in the transaction that writes the attributes. In whatever '
  'order values arrive, the config wins, then the best path, then the highest id.';
REVOKE ALL ON FUNCTION runs.note_attributes_v1 FROM PUBLIC;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.note_attributes_v1 OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.note_attributes_v1 TO tidemark_ingest;

CREATE FUNCTION runs.ask_column(org uuid, of_kind text, of_path text, in_places text[], in_attributes text[]) RETURNS boolean
  LANGUAGE plpgsql AS $$
DECLARE
  -- So few runs are looked up in some milliseconds.
  runs_min constant bigint := 1000;
  columns_max constant bigint := 16;
BEGIN
  UPDATE runs.kept_columns c SET asked_at = now()
  WHERE c.org_id = org AND c.kind = of_kind AND c.path = of_path AND c.asked_at < now() - interval '1 hour';
  IF EXISTS (SELECT FROM runs.kept_columns c WHERE c.org_id = org AND c.kind = of_kind AND c.path = of_path) THEN
    RETURN false;
  END IF;
  IF runs_min > (SELECT coalesce(sum(p.runs_running + p.runs_finished + p.runs_failed), 0) FROM runs.projects p WHERE p.org_id = org) THEN
    RETURN false;
  END IF;
  IF columns_max <= (SELECT count(*) FROM runs.kept_columns c WHERE c.org_id = org) THEN
    DELETE FROM runs.kept_columns c
    WHERE c.org_id = org AND c.id = (SELECT o.id FROM runs.kept_columns o
                                     WHERE o.org_id = org AND o.asked_at < now() - interval '1 hour' ORDER BY o.asked_at LIMIT 1);
    IF NOT FOUND THEN
      RETURN false;
    END IF;
  END IF;
  INSERT INTO runs.kept_columns (org_id, kind, path, places, attribute_paths)
  VALUES (org, of_kind, of_path, in_places, in_attributes) ON CONFLICT DO NOTHING;
  RETURN true;
END
$$;
COMMENT ON FUNCTION runs.ask_column IS
  'Notes that a table was sorted by a column, and returns whether it is to be kept from now on. An organization has 16 at '
  'most; a further one takes the place of the one that was not asked for longest, if that is an hour.';
REVOKE ALL ON FUNCTION runs.ask_column FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.ask_column TO tidemark_runs;

CREATE FUNCTION runs.fill_column(org uuid, of_id uuid, runs_max integer) RETURNS text
  LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  filling runs.kept_columns;
  page uuid[];
BEGIN
  SELECT * INTO filling FROM runs.kept_columns c WHERE c.org_id = org AND c.id = of_id AND NOT c.ready FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN 'done';
  END IF;
  -- The number of this transaction, which a restored dump would not have reached.
  IF filling.boundary IS NULL OR filling.boundary > pg_current_xact_id() THEN
    UPDATE runs.kept_columns c SET boundary = pg_current_xact_id() WHERE c.org_id = org AND c.id = of_id;
    RETURN 'waiting';
  END IF;
  IF pg_snapshot_xmin(pg_current_snapshot()) <= filling.boundary THEN
    RETURN 'waiting';
  END IF;
  page := ARRAY(SELECT r.id FROM runs.runs r WHERE r.org_id = org AND r.id > filling.filled_to ORDER BY r.id LIMIT runs_max);
  INSERT INTO runs.kept_values AS v (org_id, column_id, run_id, created_at, num, txt, source, attribute_id)
  SELECT org, of_id, r.id, r.created_at, k.num, k.txt, f.source, f.id
  FROM unnest(page) AS w (id)
  CROSS JOIN LATERAL (SELECT o.id, o.created_at, o.config FROM runs.runs o WHERE o.org_id = org AND o.id = w.id OFFSET 0) r
  CROSS JOIN LATERAL (
    SELECT c.value, c.source, c.id FROM (
      SELECT runs.config_value(r.config, filling.places) AS value, 0 AS source, 0::bigint AS id
      UNION ALL
      SELECT a.value, p.place, a.id FROM unnest(filling.attribute_paths) WITH ORDINALITY AS p (path, place)
      CROSS JOIN LATERAL (SELECT o.value, o.id FROM ingest.attribute_values_v1 o
                          WHERE o.org_id = org AND o.run_id = r.id AND o.path = p.path ORDER BY o.id DESC LIMIT 1) a
    ) c WHERE c.value IS NOT NULL ORDER BY c.source LIMIT 1
  ) f
  CROSS JOIN LATERAL runs.comparable(f.value) k
  ON CONFLICT (org_id, column_id, run_id) DO UPDATE
  SET num = excluded.num, txt = excluded.txt, source = excluded.source, attribute_id = excluded.attribute_id
  WHERE (v.source, -v.attribute_id) > (excluded.source, -excluded.attribute_id);
  UPDATE runs.kept_columns c SET ready = cardinality(page) < runs_max, filled_to = coalesce(page[cardinality(page)], c.filled_to)
  WHERE c.org_id = org AND c.id = of_id;
  RETURN CASE WHEN cardinality(page) < runs_max THEN 'done' ELSE 'more' END;
END
$$;
COMMENT ON FUNCTION runs.fill_column IS
  'Keeps the values of a page of runs that were there before the column was asked for, in a transaction that sees hidden '
  'runs. Returns more, done, or waiting for transactions that may not know of the column.';
REVOKE ALL ON FUNCTION runs.fill_column FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.fill_column TO tidemark_runs;

CREATE FUNCTION runs.columns_to_fill() RETURNS TABLE (org_id uuid, id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  SELECT c.org_id, c.id FROM runs.kept_columns c WHERE NOT c.ready ORDER BY c.asked_at LIMIT 100;
$$;
COMMENT ON FUNCTION runs.columns_to_fill IS 'Returns columns of any organizations that are not ready.';
CREATE FUNCTION runs.forget_columns() RETURNS void
  LANGUAGE sql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM runs.kept_columns c WHERE c.asked_at < now() - interval '7 days';
$$;
COMMENT ON FUNCTION runs.forget_columns IS 'Forgets columns of any organizations that nobody has asked for in seven days.';
REVOKE ALL ON FUNCTION runs.columns_to_fill, runs.forget_columns FROM PUBLIC;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.columns_to_fill OWNER TO tidemark_definer;
ALTER FUNCTION runs.forget_columns OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT EXECUTE ON FUNCTION runs.columns_to_fill, runs.forget_columns TO tidemark_runs;
