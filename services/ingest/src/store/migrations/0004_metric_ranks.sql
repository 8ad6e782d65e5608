-- Lists of runs are sorted by the best or the latest value of a metric. An index over columns that
-- change with every write would cost each write as much as the write itself, so the values to sort
-- by are copies, made once a run has been quiet for a while. Until then, and from its next write on,
-- the run is unsettled, and readers take its heads as they are: few runs are being written at a time.

ALTER TABLE ingest.metric_heads
  ADD COLUMN rank_best double precision,
  ADD COLUMN rank_latest double precision,
  ADD COLUMN rank_created_at timestamptz;

COMMENT ON COLUMN ingest.metric_heads.rank_best IS 'the best value when the run was settled last, negative where less is better: more is better here';
COMMENT ON COLUMN ingest.metric_heads.rank_latest IS 'the latest value when the run was settled last';
COMMENT ON COLUMN ingest.metric_heads.rank_created_at IS 'when the run was created, which orders equal values';

-- Read backwards: values and times descend together.
CREATE INDEX metric_heads_by_best ON ingest.metric_heads (org_id, key, rank_best, rank_created_at, run_id)
  WHERE rank_best IS NOT NULL;
CREATE INDEX metric_heads_by_latest ON ingest.metric_heads (org_id, key, rank_latest, rank_created_at, run_id)
  WHERE rank_latest IS NOT NULL;

-- Runs whose heads may be newer than their copies.
CREATE TABLE ingest.unsettled_runs (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  touched_minute integer NOT NULL,
  PRIMARY KEY (org_id, run_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);

COMMENT ON COLUMN ingest.unsettled_runs.touched_minute IS 'minutes since the Unix epoch at the last write';

SELECT platform.fence('ingest.unsettled_runs');
GRANT SELECT, INSERT, UPDATE, DELETE ON ingest.unsettled_runs TO tidemark_ingest;
GRANT SELECT ON ingest.unsettled_runs TO tidemark_runs;
GRANT USAGE ON SCHEMA ingest TO tidemark_ingest_worker;
GRANT SELECT ON ingest.unsettled_runs TO tidemark_ingest_worker;
SELECT platform.unfence_for('ingest.unsettled_runs', 'tidemark_ingest_worker');

-- How many values settled runs and their projects have.
CREATE TABLE ingest.run_points (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (org_id, run_id)
);
CREATE TABLE ingest.project_points (
  org_id uuid NOT NULL,
  project_id uuid NOT NULL,
  points bigint NOT NULL,
  PRIMARY KEY (org_id, project_id)
) WITH (fillfactor = 50);

SELECT platform.fence('ingest.run_points');
SELECT platform.fence('ingest.project_points');
GRANT SELECT, INSERT, UPDATE ON ingest.run_points, ingest.project_points TO tidemark_ingest;
GRANT SELECT ON ingest.run_points, ingest.project_points TO tidemark_runs;

-- All runs that have metrics begin unsettled. The rows are fenced from their owner too.
ALTER TABLE ingest.metric_heads NO FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.unsettled_runs NO FORCE ROW LEVEL SECURITY;
INSERT INTO ingest.unsettled_runs (org_id, run_id, touched_minute)
SELECT DISTINCT h.org_id, h.run_id, 0 FROM ingest.metric_heads h;
ALTER TABLE ingest.metric_heads FORCE ROW LEVEL SECURITY;
ALTER TABLE ingest.unsettled_runs FORCE ROW LEVEL SECURITY;

-- As before, and notes that the run is not settled any more: one look-up, and once a minute a row.
CREATE OR REPLACE FUNCTION ingest.append_metrics(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  landing_id bigint, point_block bytea, lowest_step double precision, highest_step double precision,
  value_count integer, head_keys text[], stats double precision[],
  OUT outcome text, OUT inserted integer, OUT run_project uuid
) LANGUAGE plpgsql AS $$
DECLARE
  before record;
  minute constant integer := floor(extract(epoch FROM now()) / 60)::integer;
BEGIN
  PERFORM platform.enter_org(org);
  IF NOT run_known THEN
    run_project := ingest.visible_project(org, run, only_project);
    IF run_project IS NULL THEN
      outcome := 'not_found';
      RETURN;
    END IF;
  END IF;

  IF idempotency_key IS NOT NULL THEN
    SELECT c.same_body, c.reply INTO before FROM platform.claim_key(org, idempotency_key, idempotency_body) c;
    IF FOUND THEN
      IF before.same_body THEN
        outcome := 'replayed';
        inserted := ('x' || encode(before.reply, 'hex'))::bit(32)::integer;
      ELSE
        outcome := 'reused';
      END IF;
      RETURN;
    END IF;
  END IF;

  INSERT INTO ingest.metric_landing (org_id, run_id, id, received_us, first_step, last_step, points)
  VALUES (org, run, landing_id, (extract(epoch FROM now()) * 1000000)::bigint, lowest_step, highest_step, point_block);

  IF idempotency_key IS NOT NULL THEN
    PERFORM platform.keep_key(org, idempotency_key, idempotency_body, int4send(value_count));
  END IF;

  -- Before it touches the heads, so that whoever settles the run meanwhile is waited for.
  IF NOT EXISTS (SELECT FROM ingest.unsettled_runs u
                 WHERE u.org_id = org AND u.run_id = run AND u.touched_minute >= minute) THEN
    INSERT INTO ingest.unsettled_runs AS u (org_id, run_id, touched_minute) VALUES (org, run, minute)
    ON CONFLICT (org_id, run_id) DO UPDATE SET touched_minute = greatest(u.touched_minute, excluded.touched_minute);
  END IF;

  INSERT INTO ingest.metric_heads AS h
    (org_id, run_id, key, minimise, count, mean, m2, min, min_step, max, max_step,
     latest, latest_step, latest_id, first_step)
  SELECT org, run, k.key, stats[k.at + 11] = 1, stats[k.at + 1]::bigint, stats[k.at + 2], stats[k.at + 3],
         stats[k.at + 4], stats[k.at + 5], stats[k.at + 6], stats[k.at + 7],
         stats[k.at + 8], stats[k.at + 9], landing_id, stats[k.at + 10]
  FROM (SELECT u.key, (u.n::integer - 1) * 11 AS at FROM unnest(head_keys) WITH ORDINALITY AS u (key, n)) k
  ON CONFLICT (org_id, run_id, key) DO UPDATE SET
    count = h.count + excluded.count,
    mean = ingest.merged_mean(h.count, h.mean, excluded.count, excluded.mean),
    m2 = ingest.merged_m2(h.count, h.mean, h.m2, excluded.count, excluded.mean, excluded.m2),
    min = least(h.min, excluded.min),
    min_step = CASE WHEN excluded.min < h.min OR (excluded.min = h.min AND excluded.min_step < h.min_step)
                    THEN excluded.min_step ELSE h.min_step END,
    max = greatest(h.max, excluded.max),
    max_step = CASE WHEN excluded.max > h.max OR (excluded.max = h.max AND excluded.max_step < h.max_step)
                    THEN excluded.max_step ELSE h.max_step END,
    latest = CASE WHEN (excluded.latest_step, excluded.latest_id) > (h.latest_step, h.latest_id)
                  THEN excluded.latest ELSE h.latest END,
    latest_id = CASE WHEN (excluded.latest_step, excluded.latest_id) > (h.latest_step, h.latest_id)
                     THEN excluded.latest_id ELSE h.latest_id END,
    latest_step = greatest(h.latest_step, excluded.latest_step),
    first_step = least(h.first_step, excluded.first_step);

  outcome := 'inserted';
  inserted := value_count;
END
$$;

-- Brings the copies of the next heads of a run up to date; null: there are none after `after_key`.
CREATE FUNCTION ingest.settle_heads(org uuid, run uuid, after_key text, keys_max integer) RETURNS text
  LANGUAGE plpgsql AS $$
DECLARE
  created timestamptz := (SELECT r.created_at FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run);
  last_key text;
BEGIN
  SELECT max(k.key) INTO last_key FROM (
    SELECT h.key FROM ingest.metric_heads h
    WHERE h.org_id = org AND h.run_id = run AND h.key > after_key COLLATE "C" ORDER BY h.key LIMIT keys_max
  ) k;
  UPDATE ingest.metric_heads h SET
    rank_best = CASE WHEN h.minimise THEN -h.min ELSE h.max END,
    rank_latest = h.latest,
    rank_created_at = created
  WHERE h.org_id = org AND h.run_id = run AND h.key > after_key COLLATE "C" AND h.key <= last_key COLLATE "C"
    AND (h.rank_best IS DISTINCT FROM CASE WHEN h.minimise THEN -h.min ELSE h.max END
         OR h.rank_latest IS DISTINCT FROM h.latest);
  RETURN last_key;
END
$$;

-- Ends the settling of a run: false when it was written since `touched`, and nothing is done.
CREATE FUNCTION ingest.settle_run(org uuid, run uuid, touched integer) RETURNS boolean
  LANGUAGE plpgsql AS $$
DECLARE
  total bigint;
  before bigint;
BEGIN
  PERFORM FROM ingest.unsettled_runs u WHERE u.org_id = org AND u.run_id = run AND u.touched_minute = touched FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  SELECT coalesce(sum(h.count), 0) INTO total FROM ingest.metric_heads h WHERE h.org_id = org AND h.run_id = run;
  SELECT p.points INTO before FROM ingest.run_points p WHERE p.org_id = org AND p.run_id = run;
  INSERT INTO ingest.run_points AS p (org_id, run_id, points) VALUES (org, run, total)
  ON CONFLICT (org_id, run_id) DO UPDATE SET points = excluded.points;
  INSERT INTO ingest.project_points AS p (org_id, project_id, points)
  SELECT org, r.project_id, total - coalesce(before, 0) FROM runs.run_refs_v1 r WHERE r.org_id = org AND r.id = run
  ON CONFLICT (org_id, project_id) DO UPDATE SET points = p.points + excluded.points;
  DELETE FROM ingest.unsettled_runs u WHERE u.org_id = org AND u.run_id = run;
  RETURN true;
END
$$;

REVOKE ALL ON FUNCTION ingest.settle_heads, ingest.settle_run FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.settle_heads, ingest.settle_run TO tidemark_ingest;

-- The sortable values of settled runs.
CREATE VIEW ingest.metric_ranks_v1 WITH (security_invoker = true) AS
  SELECT h.org_id, h.run_id, h.key, h.rank_best, h.rank_latest, h.rank_created_at
  FROM ingest.metric_heads h
  WHERE h.rank_best IS NOT NULL AND h.rank_latest IS NOT NULL
    AND NOT EXISTS (SELECT FROM ingest.unsettled_runs u WHERE u.org_id = h.org_id AND u.run_id = h.run_id);

-- The same of the runs that are not settled.
CREATE VIEW ingest.unsettled_ranks_v1 WITH (security_invoker = true) AS
  SELECT h.org_id, h.run_id, h.key, CASE WHEN h.minimise THEN -h.min ELSE h.max END AS rank_best,
         h.latest AS rank_latest
  FROM ingest.unsettled_runs u
  JOIN ingest.metric_heads h ON h.org_id = u.org_id AND h.run_id = u.run_id;

-- How many values runs have: of settled ones as stored, of the others as their heads say.
CREATE VIEW ingest.settled_points_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, p.run_id, p.points FROM ingest.run_points p;
CREATE VIEW ingest.project_points_v1 WITH (security_invoker = true) AS
  SELECT p.org_id, p.project_id, p.points FROM ingest.project_points p;
CREATE VIEW ingest.unsettled_points_v1 WITH (security_invoker = true) AS
  SELECT u.org_id, u.run_id,
         (SELECT coalesce(sum(h.count), 0) FROM ingest.metric_heads h WHERE h.org_id = u.org_id AND h.run_id = u.run_id)
         - coalesce((SELECT p.points FROM ingest.run_points p WHERE p.org_id = u.org_id AND p.run_id = u.run_id), 0) AS points_since
  FROM ingest.unsettled_runs u;
GRANT SELECT ON ingest.metric_ranks_v1, ingest.unsettled_ranks_v1, ingest.settled_points_v1, ingest.project_points_v1,
  ingest.unsettled_points_v1 TO tidemark_runs;
