import type pg from "pg";
import { LINE_KEY, lineValues, WIDE_STEPS, wideValues, type WebSizes } from "../sizes.ts";

/** Where the pages of MLflow find the data: ids of experiments, and of the run with many keys. */
export type MlflowData = {
  readonly many: number;
  readonly lines: number;
  readonly wide: number;
  readonly wideRun: string;
};

const EXPERIMENT = `INSERT INTO experiments (name, artifact_location, lifecycle_stage, creation_time, last_update_time)
  VALUES ($1::text, 'mlflow-artifacts:/' || $1::text, 'active', $2, $2) RETURNING experiment_id`;

/** Runs `run-000001`, …, the last of which is the newest, with the tags that its own client gives them. */
const RUNS = `WITH wanted AS MATERIALIZED (
    SELECT i, replace(gen_random_uuid()::text, '-', '') AS id, 'run-' || lpad(i::text, 6, '0') AS name
    FROM generate_series(1, $2::int) i
  ), made AS (
    INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status, start_time, end_time,
                      source_version, lifecycle_stage, artifact_uri, experiment_id)
    SELECT id, name, 'LOCAL', 'train.py', '', 'bench', 'FINISHED', $3::bigint - ($2::int - i) * 1000, $3::bigint,
           '', 'active', 'mlflow-artifacts:/' || id, $1::int FROM wanted
  ), configured AS (
    INSERT INTO params (key, value, run_uuid) SELECT 'lr', (i / 1000.0)::text, id FROM wanted
  ), tagged AS (
    INSERT INTO tags (key, value, run_uuid)
    SELECT tag.key, tag.value, id
    FROM wanted, LATERAL (VALUES ('mlflow.runName', name), ('mlflow.user', 'bench'), ('mlflow.source.name', 'train.py'),
                                 ('mlflow.source.type', 'LOCAL')) tag (key, value)
  ) SELECT id FROM wanted ORDER BY i`;

const POINTS = `INSERT INTO metrics (key, value, "timestamp", run_uuid, step, is_nan)
  SELECT key, value, $5::bigint + step, $1, step, false
  FROM unnest($2::text[], $3::float8[], $4::int[]) point (key, value, step)`;

const LATEST = `INSERT INTO latest_metrics (key, value, "timestamp", step, is_nan, run_uuid)
  SELECT key, value, "timestamp", step, is_nan, run_uuid FROM metrics WHERE run_uuid = $1 AND step = $2`;

/** The indexes of the points beside their key, which are made again once all points are there. */
const INDEXES = `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE tablename = 'metrics' AND indexname LIKE 'index_%'`;

/**
 * Writes the data into the tables that MLflow's server made, past the server, whose requests take a thousand values at most
 * and would need half an hour.
 */
export async function writeMlflow(owner: pg.Client, sizes: WebSizes): Promise<MlflowData> {
  const now = Date.now();
  const experiment = async (name: string, runs: number): Promise<[id: number, runIds: string[]]> => {
    const made = await owner.query<{ experiment_id: number }>(EXPERIMENT, [name, now]);
    const id = made.rows[0]!.experiment_id;
    return [id, (await owner.query<{ id: string }>(RUNS, [id, runs, now])).rows.map((row) => row.id)];
  };
  const points = async (run: string, keys: string[], values: number[], steps: number[]): Promise<void> => {
    await owner.query(POINTS, [run, keys, values, steps, now]);
  };

  // Nobody writes beside it and all rows fit, so that references are not checked row by row.
  await owner.query("SET session_replication_role = replica");
  const indexes = (await owner.query<{ name: string; definition: string }>(INDEXES)).rows;
  for (const { name } of indexes) await owner.query(`DROP INDEX ${name}`);
  const [many] = await experiment("many", sizes.manyRuns);
  const [lines, lineRuns] = await experiment("lines", sizes.lines);
  for (const [place, run] of lineRuns.entries()) {
    const values = [...lineValues(place, sizes)];
    await points(run, Array<string>(values.length).fill(LINE_KEY), values, [...values.keys()]);
  }
  const [wide, [wideRun = ""]] = await experiment("wide", 1);
  for (let step = 0; step < WIDE_STEPS; step += 1) {
    const values = wideValues(step, sizes);
    const keys = Object.keys(values);
    await points(wideRun, keys, Object.values(values), Array<number>(keys.length).fill(step));
  }
  for (const { definition } of indexes) await owner.query(definition);
  for (const run of lineRuns) await owner.query(LATEST, [run, sizes.lineSteps - 1]);
  await owner.query(LATEST, [wideRun, WIDE_STEPS - 1]);
  await owner.query("VACUUM ANALYZE");
  return { many, lines, wide, wideRun };
}
