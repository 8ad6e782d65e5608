CREATE SCHEMA ingest;
GRANT USAGE ON SCHEMA ingest TO tidemark_ingest, tidemark_runs;

-- One row per accepted request, with all its points: a row per point would cost ten times as much.
CREATE TABLE ingest.metric_landing (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  id bigint NOT NULL,
  received_us bigint NOT NULL,
  first_step double precision NOT NULL,
  last_step double precision NOT NULL,
  points bytea NOT NULL,
  PRIMARY KEY (org_id, run_id, id)
);

COMMENT ON COLUMN ingest.metric_landing.id IS 'ascends with time: the order of arrival';
COMMENT ON COLUMN ingest.metric_landing.received_us IS 'microseconds since the Unix epoch';
COMMENT ON COLUMN ingest.metric_landing.first_step IS 'the lowest step in the block';
COMMENT ON COLUMN ingest.metric_landing.last_step IS 'the highest step in the block';
COMMENT ON COLUMN ingest.metric_landing.points IS 'a landing block of the metric codec';

-- Packed numbers do not get smaller by PostgreSQL's compression, they only cost its time.
ALTER TABLE ingest.metric_landing ALTER COLUMN points SET STORAGE EXTERNAL;

SELECT platform.fence('ingest.metric_landing');
GRANT SELECT, INSERT ON ingest.metric_landing TO tidemark_ingest;

-- What is known of each key of each run, kept up with every write. Half of each page stays free and
-- no index covers what changes, so that an update needs no new index entry.
CREATE TABLE ingest.metric_heads (
  org_id uuid NOT NULL,
  run_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  minimise boolean NOT NULL,
  count bigint NOT NULL,
  mean double precision NOT NULL,
  m2 double precision NOT NULL,
  min double precision NOT NULL,
  min_step double precision NOT NULL,
  max double precision NOT NULL,
  max_step double precision NOT NULL,
  latest double precision NOT NULL,
  latest_step double precision NOT NULL,
  latest_id bigint NOT NULL,
  first_step double precision NOT NULL,
  PRIMARY KEY (org_id, run_id, key)
) WITH (fillfactor = 50);

COMMENT ON COLUMN ingest.metric_heads.minimise IS 'less is better';
COMMENT ON COLUMN ingest.metric_heads.m2 IS 'sum of the squared deviations from the mean; Infinity where a double cannot hold it';
COMMENT ON COLUMN ingest.metric_heads.min_step IS 'the lowest step with this minimum';
COMMENT ON COLUMN ingest.metric_heads.max_step IS 'the lowest step with this maximum';
COMMENT ON COLUMN ingest.metric_heads.latest IS 'the value at the highest step; of several, the one that arrived last';
COMMENT ON COLUMN ingest.metric_heads.latest_id IS 'landing row of the latest value';

SELECT platform.fence('ingest.metric_heads');
GRANT SELECT, INSERT, UPDATE ON ingest.metric_heads TO tidemark_ingest;

-- The mean and the squared deviations of two sets of values together (Chan, Golub and LeVeque,
-- "Updating formulae and a pairwise algorithm for computing sample variances", 1979). PostgreSQL
-- raises an error where a product is too large or too small for a double, and a write must not fail
-- for that: such terms become Infinity or nothing. Plain expressions, so that they are inlined.
CREATE FUNCTION ingest.merged_mean(
  a_count double precision, a_mean double precision, b_count double precision, b_mean double precision
) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN abs(a_mean) < 1e300 AND abs(b_mean) < 1e300 THEN
      CASE WHEN abs(b_mean - a_mean) < 1e-290 THEN a_mean
           ELSE a_mean + (b_mean - a_mean) * (b_count / (a_count + b_count)) END
    WHEN a_mean = b_mean THEN a_mean
    -- Half of each, held below half of the largest double, as a sum may be rounded beyond it.
    ELSE 2 * least(8.98e307, greatest(-8.98e307,
      CASE WHEN abs(a_mean) < 1e-290 THEN 0 ELSE a_mean / 2 * (a_count / (a_count + b_count)) END
      + CASE WHEN abs(b_mean) < 1e-290 THEN 0 ELSE b_mean / 2 * (b_count / (a_count + b_count)) END))
  END;

CREATE FUNCTION ingest.merged_m2(
  a_count double precision, a_mean double precision, a_m2 double precision,
  b_count double precision, b_mean double precision, b_m2 double precision
) RETURNS double precision
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN a_m2 > 1e300 OR b_m2 > 1e300 THEN 'Infinity'
    WHEN a_mean = b_mean THEN a_m2 + b_m2
    WHEN abs(a_mean) > 1e140 OR abs(b_mean) > 1e140 THEN 'Infinity'
    WHEN abs(b_mean - a_mean) < 1e-140 THEN a_m2 + b_m2
    ELSE a_m2 + b_m2
         + (b_mean - a_mean) * (b_mean - a_mean) * (a_count * (b_count / (a_count + b_count)))
  END;

-- The project of a run; null when it does not exist, is another organization's or lies outside
-- `only_project`.
CREATE FUNCTION ingest.visible_project(org uuid, run uuid, only_project uuid) RETURNS uuid
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT r.project_id FROM runs.run_refs_v1 r
          WHERE r.org_id = org AND r.id = run AND (only_project IS NULL OR r.project_id = only_project));
END
$$;
REVOKE ALL ON FUNCTION ingest.visible_project FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.visible_project TO tidemark_ingest;

-- Stores one request: claims its key, adds its landing row, brings the heads up to date. One round
-- trip and one transaction, in the organization that it enters itself. Outcomes: inserted; replayed
-- and reused for a key that was used before; not_found as visible_project says. A landing id that is
-- taken fails the transaction (unique_violation), and the caller comes back with another one.
-- `stats` holds eleven numbers per key, in the order of the head columns from count on, first_step
-- in the place of latest_id, and last 1 where less is better. Keys are sorted, so that two requests
-- lock the heads of a run in the same order; heads come last, because their locks are what requests
-- to one run wait for.
CREATE FUNCTION ingest.append_metrics(
  org uuid, run uuid, run_known boolean, only_project uuid,
  idempotency_key bytea, idempotency_body bytea,
  landing_id bigint, point_block bytea, lowest_step double precision, highest_step double precision,
  value_count integer, head_keys text[], stats double precision[],
  OUT outcome text, OUT inserted integer, OUT run_project uuid
) LANGUAGE plpgsql AS $$
DECLARE
  before record;
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
REVOKE ALL ON FUNCTION ingest.append_metrics FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.append_metrics TO tidemark_ingest;

-- The heads as other services may read them: aggregates per run and key. variance is the population
-- variance, null where a double cannot hold it; best follows the minimum where less is better, else
-- the maximum.
CREATE VIEW ingest.metric_heads_v1 WITH (security_invoker = true) AS
  SELECT org_id, run_id, key, count, min, max, mean,
         CASE WHEN m2 < 1e-290 THEN 0 WHEN m2 < 'Infinity' THEN m2 / count END AS variance,
         latest, latest_step,
         CASE WHEN minimise THEN min ELSE max END AS best,
         CASE WHEN minimise THEN min_step ELSE max_step END AS best_step,
         first_step, latest_step AS last_step
  FROM ingest.metric_heads;
GRANT SELECT ON ingest.metric_heads, ingest.metric_heads_v1 TO tidemark_runs;

-- A page of the landing rows of some runs, in the order of `run_ids` and then of arrival, from after
-- row `after_id` of the run at `after_place` (1 and -1 to begin). With a key, only runs that have it;
-- with bounds, only rows with points inside them. A page ends after `rows_left` rows or with the row
-- that takes it to `bytes_left` bytes, so that a long run never has to fit into memory. A function
-- and no plain query, because it can count bytes, and enters the organization in the same round trip.
CREATE FUNCTION ingest.landing_page(
  org uuid, run_ids uuid[], only_key text, lowest_step double precision, highest_step double precision,
  after_place integer, after_id bigint, rows_left integer, bytes_left bigint
) RETURNS TABLE (place integer, id bigint, received_us bigint, points bytea)
  LANGUAGE plpgsql STABLE AS $$
BEGIN
  PERFORM platform.enter_org(org);
  FOR at IN after_place .. cardinality(run_ids) LOOP
    IF only_key IS NULL OR EXISTS (
      SELECT FROM ingest.metric_heads h WHERE h.org_id = org AND h.run_id = run_ids[at] AND h.key = only_key
    ) THEN
      place := at;
      FOR id, received_us, points IN
        SELECT l.id, l.received_us, l.points
        FROM ingest.metric_landing l
        WHERE l.org_id = org AND l.run_id = run_ids[at] AND l.id > after_id
          AND (lowest_step IS NULL OR l.last_step >= lowest_step)
          AND (highest_step IS NULL OR l.first_step <= highest_step)
        ORDER BY l.id LIMIT rows_left
      LOOP
        RETURN NEXT;
        rows_left := rows_left - 1;
        bytes_left := bytes_left - octet_length(points);
        IF rows_left <= 0 OR bytes_left <= 0 THEN
          RETURN;
        END IF;
      END LOOP;
    END IF;
    after_id := -1;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION ingest.landing_page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ingest.landing_page TO tidemark_ingest;
