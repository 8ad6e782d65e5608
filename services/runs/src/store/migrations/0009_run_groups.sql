-- Runs that are created simultaneously in one project share a statement and a commit, and what searches read of them is
-- written by one statement.

-- To return the ids that were taken; its policy lets it see the rows of all organizations.
GRANT SELECT (id) ON runs.run_ids TO tidemark_definer;

CREATE FUNCTION runs.take_run_ids(ids uuid[], org uuid) RETURNS SETOF uuid
  LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
  -- In one order for all, so that two of them cannot wait for each other.
  INSERT INTO runs.run_ids (id, org_id) SELECT i.id, org FROM unnest(ids) AS i (id) ORDER BY i.id
  ON CONFLICT DO NOTHING
  RETURNING id;
$$;
COMMENT ON FUNCTION runs.take_run_ids IS
  'Takes ids for an organization, in the transaction that creates the runs, and returns those that no organization '
  'had. Waits for transactions that are about to take or to give up the same ids.';
REVOKE ALL ON FUNCTION runs.take_run_ids FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.take_run_ids TO tidemark_runs;
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER FUNCTION runs.take_run_ids OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;

-- The plans are forced, because an array that is counted for its plan has it planned each time.
CREATE FUNCTION runs.create_runs(org uuid, project_name text, only_project uuid, runs_max bigint, ids uuid[],
  names text[], name_words text[], configs text[], tag_lists text[], metadatas text[], fingerprints bytea[])
  RETURNS TABLE (run uuid, project uuid, run_name text, at timestamptz)
  LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  home uuid;
  taken uuid[];
  numbered bigint;
  since timestamptz;
BEGIN
  PERFORM platform.enter_org(org);
  SELECT p.id INTO home FROM runs.projects p
  WHERE p.org_id = org AND p.name = project_name AND (only_project IS NULL OR p.id = only_project);
  IF home IS NULL THEN
    RETURN;
  END IF;
  IF runs_max IS NOT NULL THEN
    IF runs_max < (SELECT sum(p.runs_running + p.runs_finished + p.runs_failed) FROM runs.projects p WHERE p.org_id = org) THEN
      RETURN;
    END IF;
  END IF;
  taken := ARRAY(SELECT runs.take_run_ids(ids, org));
  IF taken = '{}' THEN
    RETURN;
  END IF;

  -- From here until the commit creates in this project wait for each other. The time is read after that wait, so that
  -- it rises with the number.
  UPDATE runs.projects p SET runs_running = p.runs_running + cardinality(taken)
  WHERE p.org_id = org AND p.id = home
  RETURNING p.runs_running + p.runs_finished + p.runs_failed - cardinality(taken), clock_timestamp()
  INTO STRICT numbered, since;

  RETURN QUERY
  INSERT INTO runs.runs AS r (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at,
                              create_fingerprint)
  SELECT org, n.id, home, coalesce(n.name, n.words || '-' || numbered + n.place), 'running', n.config,
         ARRAY(SELECT json_array_elements_text(n.tags::json)), n.metadata, n.at, n.at, n.fingerprint
  FROM (
    SELECT u.*, since + u.place * interval '1 microsecond' AS at
    FROM (
      SELECT w.*, row_number() OVER (ORDER BY w.ordinal) AS place
      FROM unnest(ids, names, name_words, configs, tag_lists, metadatas, fingerprints)
           WITH ORDINALITY AS w (id, name, words, config, tags, metadata, fingerprint, ordinal)
      WHERE w.id = ANY (taken)
    ) u
  ) n
  ORDER BY n.place
  RETURNING r.id, r.project_id, r.name, r.created_at;
END
$$;
COMMENT ON FUNCTION runs.create_runs IS
  'Creates runs in a project and returns them. Left out are runs whose id is taken, and all of them if the '
  'organization has no such project, it is not only_project, or the organization has more than runs_max runs. Runs get '
  'their numbers in the given order, and names of name_words and number where names has none.';
REVOKE ALL ON FUNCTION runs.create_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION runs.create_runs TO tidemark_runs;

-- As before, without work that most texts do not need: parsing metadata that has no notes, cutting what is short, and
-- looking for two characters in texts of ASCII.
CREATE OR REPLACE FUNCTION runs.texts_of(run runs.runs, project_name text) RETURNS runs.run_texts
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $$
DECLARE
  bytes_max constant integer := 32768;
  tags constant text := array_to_string(run.tags, ' ');
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
  texts.tags := CASE WHEN octet_length(tags) <= bytes_max THEN lower(run.tags::text COLLATE "C")::text[]
                     ELSE runs.searchable_tags(run.tags) END;
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

-- Searches read the pending entries of the index from end to end, so that list is short. New runs may leave a longer one
-- than before, because entries cost less the more of them are merged together: those of 64 runs two thirds of those of
-- 16. The next change of a run shortens it, or autovacuum.
ALTER INDEX runs.run_texts_words RESET (gin_pending_list_limit);

CREATE FUNCTION runs.index_new_runs() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog SET gin_pending_list_limit = 1024 AS $$
BEGIN
  INSERT INTO runs.run_texts
  SELECT t.* FROM new_runs r
  JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
  CROSS JOIN LATERAL runs.texts_of(ROW(r.*)::runs.runs, p.name) t;
  -- Never by a create, but by what fills tables.
  UPDATE runs.projects p SET
    runs_stopping = p.runs_stopping + c.running,
    runs_finished_stopped = p.runs_finished_stopped + c.finished,
    runs_failed_stopped = p.runs_failed_stopped + c.failed
  FROM (SELECT r.org_id, r.project_id, count(*) FILTER (WHERE r.status = 'running') AS running,
               count(*) FILTER (WHERE r.status = 'finished') AS finished,
               count(*) FILTER (WHERE r.status = 'failed') AS failed
        FROM new_runs r WHERE r.display_status <> r.status GROUP BY r.org_id, r.project_id) c
  WHERE p.org_id = c.org_id AND p.id = c.project_id;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION runs.index_new_runs IS
  'Keeps texts and counters with new runs, in the statement that writes them.';

CREATE FUNCTION runs.index_changed_run() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog SET gin_pending_list_limit = 256 AS $$
DECLARE
  texts runs.run_texts;
  old_state text := CASE WHEN OLD.display_status <> OLD.status THEN OLD.status ELSE '' END;
  new_state text := CASE WHEN NEW.display_status <> NEW.status THEN NEW.status ELSE '' END;
BEGIN
  texts := runs.texts_of(NEW, (SELECT p.name FROM runs.projects p WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id));
  UPDATE runs.run_texts t SET status = texts.status, display_status = texts.display_status, irregular = texts.irregular,
    tags = texts.tags, notes = texts.notes, summary = texts.summary, metadata = texts.metadata
  WHERE t.org_id = NEW.org_id AND t.run_id = NEW.id;
  IF old_state <> new_state THEN
    UPDATE runs.projects p SET
      runs_stopping = p.runs_stopping + (new_state = 'running')::integer - (old_state = 'running')::integer,
      runs_finished_stopped = p.runs_finished_stopped + (new_state = 'finished')::integer - (old_state = 'finished')::integer,
      runs_failed_stopped = p.runs_failed_stopped + (new_state = 'failed')::integer - (old_state = 'failed')::integer
    WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id;
  END IF;
  RETURN NULL;
END
$$;
COMMENT ON FUNCTION runs.index_changed_run IS
  'Keeps texts and counters with a changed run, in the statement that changes it.';

DROP TRIGGER runs_index_new ON runs.runs;
CREATE TRIGGER runs_index_new AFTER INSERT ON runs.runs
  REFERENCING NEW TABLE AS new_runs
  FOR EACH STATEMENT EXECUTE FUNCTION runs.index_new_runs();
DROP TRIGGER runs_index_changed ON runs.runs;
CREATE TRIGGER runs_index_changed AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.display_status <> NEW.display_status
                     OR OLD.tags <> NEW.tags OR OLD.metadata <> NEW.metadata)
  EXECUTE FUNCTION runs.index_changed_run();
DROP FUNCTION runs.index_run();
