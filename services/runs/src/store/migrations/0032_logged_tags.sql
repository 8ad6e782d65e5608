-- Tags that the SDK's add_tags logs as attributes. They are no tags of the run's document, but searches and groups see them.

ALTER TABLE runs.runs ADD COLUMN logged_tags text[] COLLATE "C" NOT NULL DEFAULT '{}';
COMMENT ON COLUMN runs.runs.logged_tags IS
  'texts of the attributes sys/tags and sys/group_tags, each once, as they came: at most 256 of at most 512 bytes';
GRANT UPDATE (logged_tags) ON runs.runs TO tidemark_runs;

-- As before, with the logged tags behind the others.
CREATE OR REPLACE FUNCTION runs.texts_of(run runs.runs, project_name text) RETURNS runs.run_texts
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bytes_max constant integer := 32768;
  all_tags constant text[] := CASE WHEN run.logged_tags = '{}' THEN run.tags ELSE run.tags || run.logged_tags END;
  tags constant text := array_to_string(all_tags, ' ');
  notes text := '';
  everything text;
  texts runs.run_texts;
BEGIN
  IF strpos(run.metadata, '"note') > 0 OR strpos(run.metadata, '"description"') > 0
    OR strpos(run.metadata, '"summary"') > 0 OR strpos(run.metadata, '"comment"') > 0 OR strpos(run.metadata, '\u') > 0 THEN
    notes := runs.notes_of(run.metadata);
  END IF;
  texts.org_id := run.org_id;
  texts.run_id := run.id;
  texts.project_id := run.project_id;
  texts.created_at := run.created_at;
  texts.status := run.status;
  texts.display_status := run.display_status;
  texts.name := lower(run.name COLLATE "C");
  texts.tags := CASE WHEN octet_length(tags) <= bytes_max THEN lower(all_tags::text COLLATE "C")::text[]
                     ELSE runs.searchable_tags(all_tags) END;
  texts.notes := CASE WHEN octet_length(notes) <= bytes_max THEN lower(notes COLLATE "C")
                      ELSE runs.searchable(notes) END;
  texts.summary := concat_ws(' ', project_name, run.name, nullif(tags, ''), nullif(notes, ''), run.status, run.id,
    nullif(run.display_status, run.status));
  texts.summary := CASE WHEN octet_length(texts.summary) <= bytes_max THEN lower(texts.summary COLLATE "C")
                        ELSE runs.searchable(texts.summary) END;
  texts.config := CASE WHEN octet_length(run.config) <= bytes_max THEN lower(run.config COLLATE "C")
                       ELSE runs.searchable(run.config) END;
  texts.metadata := CASE WHEN octet_length(run.metadata) <= bytes_max THEN lower(run.metadata COLLATE "C")
                         ELSE runs.searchable(run.metadata) END;
  everything := concat(texts.summary, texts.notes, texts.config, texts.metadata, array_to_string(texts.tags, ''));
  texts.irregular := octet_length(texts.summary) > 32760
    OR (octet_length(everything) > char_length(everything) AND everything ~ '[\u212A\u017F]');
  RETURN texts;
END
$$;

DROP TRIGGER runs_index_changed ON runs.runs;
CREATE TRIGGER runs_index_changed AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.display_status <> NEW.display_status OR OLD.name <> NEW.name
                     OR OLD.tags <> NEW.tags OR OLD.logged_tags <> NEW.logged_tags OR OLD.metadata <> NEW.metadata)
  EXECUTE FUNCTION runs.index_changed_run();

CREATE FUNCTION runs.note_tags_v1(org uuid, run uuid, logged text[]) RETURNS void
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  tags_max constant integer := 256;
  bytes_max constant integer := 512;
  before text[];
  fresh text[];
BEGIN
  IF org IS DISTINCT FROM platform.org_id() THEN
    RETURN;
  END IF;
  -- Most of the time the run has them already, and nothing waits for its row.
  SELECT r.logged_tags INTO before FROM runs.runs r WHERE r.org_id = org AND r.id = run;
  IF NOT FOUND OR before @> logged OR cardinality(before) >= tags_max THEN
    RETURN;
  END IF;
  SELECT r.logged_tags INTO before FROM runs.runs r WHERE r.org_id = org AND r.id = run FOR NO KEY UPDATE;
  fresh := ARRAY(
    SELECT w.tag FROM unnest(logged) WITH ORDINALITY AS w (tag, n)
    WHERE octet_length(w.tag) BETWEEN 1 AND bytes_max AND NOT before @> ARRAY[w.tag]
    GROUP BY w.tag ORDER BY min(w.n) LIMIT greatest(tags_max - cardinality(before), 0));
  IF fresh <> '{}' THEN
    UPDATE runs.runs r SET logged_tags = before || fresh WHERE r.org_id = org AND r.id = run;
  END IF;
END
$$;
COMMENT ON FUNCTION runs.note_tags_v1 IS
  'Keeps tags that were logged as attributes, in the transaction that writes the attributes. Those above the bounds of '
  'logged_tags are attributes alone.';
REVOKE ALL ON FUNCTION runs.note_tags_v1 FROM PUBLIC;
GRANT CREATE ON SCHEMA runs TO tidemark_runs;
ALTER FUNCTION runs.note_tags_v1 OWNER TO tidemark_runs;
REVOKE CREATE ON SCHEMA runs FROM tidemark_runs;
GRANT EXECUTE ON FUNCTION runs.note_tags_v1 TO tidemark_ingest;
