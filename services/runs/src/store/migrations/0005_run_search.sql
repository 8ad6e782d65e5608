CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- What searches read of a text: its first 32 KiB, its ASCII letters lowered. Collation C knows no
-- other letters.
CREATE FUNCTION runs.searchable(whole text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
DECLARE
  bytes bytea;
  length integer := 32768;
BEGIN
  IF octet_length(whole) <= length THEN
    RETURN lower(whole COLLATE "C");
  END IF;
  bytes := convert_to(whole, 'UTF8');
  -- Not in the middle of a character.
  WHILE get_byte(bytes, length) & 192 = 128 LOOP
    length := length - 1;
  END LOOP;
  RETURN lower(convert_from(substring(bytes FROM 1 FOR length), 'UTF8') COLLATE "C");
END
$$;

-- The tags that end within the first 32 KiB of all of them, joined by spaces.
CREATE FUNCTION runs.searchable_tags(tags text[]) RETURNS text[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
  SELECT coalesce(array_agg(lower(u.tag COLLATE "C") ORDER BY u.n) FILTER (WHERE u.bytes <= 32768), '{}')
  FROM (SELECT t.tag, t.n, sum(octet_length(t.tag) + 1) OVER (ORDER BY t.n) - 1 AS bytes
        FROM unnest(tags) WITH ORDINALITY AS t (tag, n)) u;
$$;

-- The texts in a run's metadata that are about the run. A NUL and half of a surrogate pair, which JSON
-- can write and a text cannot hold, are read as U+FFFD; no other escape of a surrogate is stored.
CREATE FUNCTION runs.notes_of(metadata text) RETURNS text
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog AS $$
DECLARE
  document json;
BEGIN
  IF strpos(metadata, '\u') > 0 THEN
    metadata := regexp_replace(metadata, '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-fA-F][0-9a-fA-F]{2})', '\1\\ufffd', 'g');
  END IF;
  document := metadata;
  RETURN concat_ws(' ',
    CASE WHEN json_typeof(document -> 'notes') = 'string' THEN document ->> 'notes' END,
    CASE WHEN json_typeof(document -> 'note') = 'string' THEN document ->> 'note' END,
    CASE WHEN json_typeof(document -> 'description') = 'string' THEN document ->> 'description' END,
    CASE WHEN json_typeof(document -> 'summary') = 'string' THEN document ->> 'summary' END,
    CASE WHEN json_typeof(document -> 'comment') = 'string' THEN document ->> 'comment' END);
END
$$;

-- What searches read of each run, beside the run itself: its documents stay untouched and its row
-- small. A trigger keeps it, so that no writer of runs can forget it.
CREATE TABLE runs.run_texts (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  project_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  status text COLLATE "C" NOT NULL,
  display_status text COLLATE "C" NOT NULL,
  irregular boolean NOT NULL,
  name text COLLATE "C" NOT NULL,
  tags text[] COLLATE "C" NOT NULL,
  notes text COLLATE "C" NOT NULL,
  summary text COLLATE "C" NOT NULL,
  config text COLLATE "C" NOT NULL,
  metadata text COLLATE "C" NOT NULL,
  PRIMARY KEY (org_id, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

COMMENT ON COLUMN runs.run_texts.irregular IS 'holds U+212A or U+017F, which a regular expression that ignores case takes for k and s, or has more tags and notes than its summary: literals of an expression say nothing about it';
COMMENT ON COLUMN runs.run_texts.summary IS 'project, name, tags, notes, status, id, and the status shown where it differs';

SELECT platform.fence('runs.run_texts');

-- What searches read of a run of the named project.
CREATE FUNCTION runs.texts_of(run runs.runs, project_name text) RETURNS runs.run_texts
  LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $$
DECLARE
  notes text := runs.notes_of(run.metadata);
  texts runs.run_texts;
BEGIN
  texts.org_id := run.org_id;
  texts.run_id := run.id;
  texts.project_id := run.project_id;
  texts.created_at := run.created_at;
  texts.status := run.status;
  texts.display_status := run.display_status;
  texts.name := runs.searchable(run.name);
  texts.tags := runs.searchable_tags(run.tags);
  texts.notes := runs.searchable(notes);
  texts.summary := runs.searchable(concat_ws(' ', project_name, run.name, nullif(array_to_string(run.tags, ' '), ''),
    nullif(notes, ''), run.status, run.id, nullif(run.display_status, run.status)));
  texts.config := runs.searchable(run.config);
  texts.metadata := runs.searchable(run.metadata);
  texts.irregular := octet_length(texts.summary) > 32760
    OR concat(texts.summary, texts.notes, texts.config, texts.metadata, array_to_string(texts.tags, '')) ~ '[\u212A\u017F]';
  RETURN texts;
END
$$;

-- Runs by a status shown that is not the stored one; with the counters by stored status they give
-- the total of every filter on either.
ALTER TABLE runs.projects
  ADD COLUMN runs_stopping bigint NOT NULL DEFAULT 0 CHECK (runs_stopping >= 0),
  ADD COLUMN runs_finished_stopped bigint NOT NULL DEFAULT 0 CHECK (runs_finished_stopped >= 0),
  ADD COLUMN runs_failed_stopped bigint NOT NULL DEFAULT 0 CHECK (runs_failed_stopped >= 0);
GRANT UPDATE (runs_stopping, runs_finished_stopped, runs_failed_stopped) ON runs.projects TO tidemark_runs;

-- Keeps texts and counters with the run, in the statement that writes it.
CREATE FUNCTION runs.index_run() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
  texts runs.run_texts;
  old_state text := CASE WHEN TG_OP = 'UPDATE' AND OLD.display_status <> OLD.status THEN OLD.status ELSE '' END;
  new_state text := CASE WHEN NEW.display_status <> NEW.status THEN NEW.status ELSE '' END;
BEGIN
  texts := runs.texts_of(NEW, (SELECT p.name FROM runs.projects p WHERE p.org_id = NEW.org_id AND p.id = NEW.project_id));
  IF TG_OP = 'INSERT' THEN
    INSERT INTO runs.run_texts VALUES (texts.*);
  ELSE
    UPDATE runs.run_texts t SET status = texts.status, display_status = texts.display_status, irregular = texts.irregular,
      tags = texts.tags, notes = texts.notes, summary = texts.summary, metadata = texts.metadata
    WHERE t.org_id = NEW.org_id AND t.run_id = NEW.id;
  END IF;
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

-- The runs of before. The rows are fenced from their owner too.
ALTER TABLE runs.runs NO FORCE ROW LEVEL SECURITY;
ALTER TABLE runs.projects NO FORCE ROW LEVEL SECURITY;
ALTER TABLE runs.run_texts NO FORCE ROW LEVEL SECURITY;
INSERT INTO runs.run_texts
SELECT t.* FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
CROSS JOIN LATERAL runs.texts_of(r, p.name) t;
UPDATE runs.projects p SET
  runs_stopping = c.running, runs_finished_stopped = c.finished, runs_failed_stopped = c.failed
FROM (
  SELECT r.org_id, r.project_id, count(*) FILTER (WHERE r.status = 'running') AS running,
         count(*) FILTER (WHERE r.status = 'finished') AS finished, count(*) FILTER (WHERE r.status = 'failed') AS failed
  FROM runs.runs r WHERE r.display_status <> r.status GROUP BY r.org_id, r.project_id
) c
WHERE p.org_id = c.org_id AND p.id = c.project_id;
ALTER TABLE runs.runs FORCE ROW LEVEL SECURITY;
ALTER TABLE runs.projects FORCE ROW LEVEL SECURITY;

-- With the organization in front, so that one tenant's search does not pay for another's texts. A
-- short pending list: searches read it from end to end.
CREATE INDEX run_texts_words ON runs.run_texts
  USING gin (org_id, tags, summary gin_trgm_ops, notes gin_trgm_ops, config gin_trgm_ops, metadata gin_trgm_ops)
  WITH (gin_pending_list_limit = 256);
CREATE INDEX run_texts_newest ON runs.run_texts (org_id, created_at DESC, run_id DESC);
CREATE INDEX run_texts_newest_of_project ON runs.run_texts (org_id, project_id, created_at DESC, run_id DESC);
CREATE INDEX run_texts_by_status ON runs.run_texts (org_id, display_status, created_at DESC, run_id DESC);
CREATE INDEX run_texts_irregular ON runs.run_texts (org_id) WHERE irregular;

CREATE TRIGGER runs_index_new AFTER INSERT ON runs.runs
  FOR EACH ROW EXECUTE FUNCTION runs.index_run();
CREATE TRIGGER runs_index_changed AFTER UPDATE ON runs.runs
  FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.display_status <> NEW.display_status
                     OR OLD.tags <> NEW.tags OR OLD.metadata <> NEW.metadata)
  EXECUTE FUNCTION runs.index_run();
GRANT SELECT, INSERT, UPDATE ON runs.run_texts TO tidemark_runs;

-- What searches read. For a role that is held to its rows by a policy PostgreSQL uses neither the
-- trigram and tag indexes nor the statistics of texts, because such operators could tell what they
-- see. So this view is read with the rights of the table's owner, a role that no request runs as and
-- that no policy holds, and does the policy's work by its own condition.
GRANT CREATE ON SCHEMA runs TO tidemark_definer;
ALTER TABLE runs.run_texts OWNER TO tidemark_definer;
CREATE VIEW runs.found_runs AS SELECT * FROM runs.run_texts WHERE org_id = platform.org_id();
ALTER VIEW runs.found_runs OWNER TO tidemark_definer;
REVOKE CREATE ON SCHEMA runs FROM tidemark_definer;
GRANT SELECT ON runs.found_runs TO tidemark_runs;

-- A running run has no duration, also while it still carries the time of an earlier finish. A column,
-- because under row level security an index is not asked for what an expression says.
ALTER TABLE runs.runs ADD COLUMN duration interval
  GENERATED ALWAYS AS (CASE WHEN status <> 'running' THEN finished_at - started_at END) STORED;

-- Every order of a list has its indexes: of an organization and of a project.
CREATE INDEX runs_by_name ON runs.runs (org_id, name, created_at DESC, id DESC);
CREATE INDEX runs_by_name_of_project ON runs.runs (org_id, project_id, name, created_at DESC, id DESC);
CREATE INDEX runs_by_status ON runs.runs (org_id, display_status, name, created_at DESC, id DESC);
CREATE INDEX runs_by_status_of_project ON runs.runs (org_id, project_id, display_status, name, created_at DESC, id DESC);
CREATE INDEX runs_by_duration ON runs.runs
  (org_id, duration DESC, created_at DESC, id DESC);
CREATE INDEX runs_by_duration_of_project ON runs.runs
  (org_id, project_id, duration DESC, created_at DESC, id DESC);

CREATE OR REPLACE VIEW runs.run_refs_v1 WITH (security_invoker = true) AS
  SELECT org_id, id, project_id, created_at FROM runs.runs;
GRANT SELECT (created_at) ON runs.runs TO tidemark_ingest;
