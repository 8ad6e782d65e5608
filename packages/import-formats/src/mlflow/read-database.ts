import type { Item } from "../items.ts";
import { createPointBatches } from "../point-batches.ts";
import { numberColumn, pointColumn, sqlRows, textColumn, type Query, type SqlRow } from "../sql-rows.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { MLFLOW_TEXTS_MAX, mlflowRunItem } from "./run-item.ts";

/**
 * Reads the runs of a database of MLflow (`mlflow.db`), in the order of their ids. Deleted runs and those of deleted experiments are counted and left out.
 * Files of runs lie outside of the database: `metadata.mlflow.artifact_uri` says where.
 */
export function* readMlflowDatabase(query: Query): Generator<Item> {
  const warnings = createWarnings();
  const runs = sqlRows(
    query,
    warnings,
    `SELECT r.run_uuid, r.name, r.user_id, r.status, r.start_time, r.end_time, r.lifecycle_stage, r.artifact_uri,
       e.name AS experiment, e.lifecycle_stage AS experiment_stage
     FROM runs r LEFT JOIN experiments e ON e.experiment_id = r.experiment_id
     ORDER BY r.run_uuid`,
  );
  for (const row of runs) {
    const id = textColumn(row, "run_uuid");
    if (id === undefined) warnings.add("malformed_value", "a run without an id");
    else if (row["lifecycle_stage"] === "deleted" || row["experiment_stage"] === "deleted") {
      warnings.add("deleted_run", id);
    } else yield* readRun(query, id, row);
  }
  yield* warnings.take();
}

function* readRun(query: Query, id: string, row: SqlRow): Generator<Item> {
  const warnings = createWarnings(id);
  const texts = (table: "params" | "tags"): Record<string, string> => readTexts(query, table, id, warnings);
  yield mlflowRunItem({
    id,
    experiment: textColumn(row, "experiment") ?? "",
    name: textColumn(row, "name") ?? "",
    status: textColumn(row, "status") ?? "",
    startedAt: numberColumn(row, "start_time"),
    endedAt: numberColumn(row, "end_time"),
    user: textColumn(row, "user_id") ?? "",
    artifactUri: textColumn(row, "artifact_uri") ?? "",
    params: texts("params"),
    tags: texts("tags"),
  });
  const points = createPointBatches(id, warnings);
  const rows = sqlRows(
    query,
    warnings,
    `SELECT "key", value, "timestamp", step, is_nan FROM metrics WHERE run_uuid = ? ORDER BY "key", "timestamp", step, value`,
    id,
  );
  for (const metric of rows) {
    const [key, step] = [textColumn(metric, "key"), pointColumn(metric, "step", warnings)];
    const value = numberColumn(metric, "is_nan") === 1 ? Number.NaN : pointColumn(metric, "value", warnings);
    if (key === undefined || step === undefined || value === undefined) warnings.add("malformed_value", key);
    else points.add(key, step, unclamped(value), numberColumn(metric, "timestamp"));
    yield* points.full();
  }
  yield* points.rest();
  yield* warnings.take();
}

/** The database has the largest doubles in place of infinity. */
function unclamped(value: number): number {
  return Math.abs(value) === Number.MAX_VALUE ? value * 2 : value;
}

function readTexts(query: Query, table: "params" | "tags", id: string, warnings: Warnings): Record<string, string> {
  const texts = new Map<string, string>();
  for (const row of sqlRows(
    query,
    warnings,
    `SELECT "key", value FROM ${table} WHERE run_uuid = ? ORDER BY "key"`,
    id,
  )) {
    const [key, value] = [textColumn(row, "key"), textColumn(row, "value")];
    if (key === undefined || value === undefined) warnings.add("malformed_value", key);
    else if (texts.size >= MLFLOW_TEXTS_MAX) warnings.add("too_large", key);
    else texts.set(key, value);
  }
  return Object.fromEntries(texts);
}
