import { safePath } from "../file-tree.ts";
import { histogramOf } from "../histogram.ts";
import type { Item, JsonObject, JsonValue } from "../items.ts";
import { isObject, numberOf, numbersOf, readPythonJson, loggedParts } from "../json.ts";
import { createPointBatches, type PointBatches } from "../point-batches.ts";
import { pointColumn, sqlRows, textColumn, type Query, type SqlRow } from "../sql-rows.ts";
import { TABLE_ROWS_MAX } from "@tidemark/limits";
import { createWarnings, type Warnings } from "../warnings.ts";

/** Most bytes of what one call logged. */
const LOG_BYTES_MAX = 16 * 1024 * 1024;

const media: ReadonlyMap<string, "image" | "audio" | "video"> = new Map([
  ["trackio.image", "image"],
  ["trackio.audio", "audio"],
  ["trackio.video", "video"],
]);

/**
 * Reads the runs of a database of trackio (`<project>.db`). Files of media are named by their place in the folder of the database (`media/…`). trackio does
 * not say how a run ended; it counts as finished. @param project the name of the database without `.db`
 */
export function* readTrackio(query: Query, project: string): Generator<Item> {
  const warnings = createWarnings();
  // Older databases know runs by their names alone.
  const columns = Array.from(
    sqlRows(query, warnings, "SELECT name FROM pragma_table_info('metrics')"),
    (row) => row["name"],
  );
  const names = sqlRows(query, warnings, "SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(Array.from(names, (row) => textColumn(row, "name") ?? ""));
  const idColumn = columns.includes("run_id") ? "run_id" : "run_name";
  const runs = sqlRows(
    query,
    warnings,
    `SELECT ${idColumn} AS id, min(run_name) AS name FROM
       (SELECT ${idColumn}, run_name FROM metrics UNION SELECT ${idColumn}, run_name FROM configs)
     GROUP BY ${idColumn} ORDER BY ${idColumn}`,
  );
  for (const row of runs) {
    const id = textColumn(row, "id");
    if (id === undefined) warnings.add("malformed_value", "a run without an id");
    else yield* readRun({ query, idColumn, id, name: textColumn(row, "name") ?? id, project, tables });
  }
  yield* warnings.take();
}

type TrackioRun = {
  readonly query: Query;
  readonly idColumn: string;
  readonly id: string;
  readonly name: string;
  readonly project: string;
  /** The tables of the database, which depend on the version. */
  readonly tables: ReadonlySet<string>;
};

/** Tables of runs whose rows have no place here. */
const unsupportedTables = ["alerts", "traces", "run_artifact_links"];

function* readRun({ query, idColumn, id, name, project, tables }: TrackioRun): Generator<Item> {
  const warnings = createWarnings(id);
  const points = createPointBatches(id, warnings);
  const rowsOf = (table: string): Generator<SqlRow> =>
    sqlRows(query, warnings, `SELECT * FROM ${table} WHERE ${idColumn} = ? ORDER BY rowid`, id);
  let config: JsonObject = {};
  for (const row of rowsOf("configs")) config = jsonColumn(row, "config", warnings) ?? config;
  const { _Username: user, _Created: created, _Group: group, ...own } = config;
  const createdAt = typeof created === "string" ? readTime(created) : Number.NaN;
  const described = Object.entries({ user, group }).filter((entry) => typeof entry[1] === "string");
  yield {
    kind: "run",
    run: id,
    source: "trackio",
    project,
    name,
    status: "finished",
    config: own,
    ...(Number.isFinite(createdAt) ? { startedAt: createdAt } : {}),
    ...(described.length === 0 ? {} : { metadata: Object.fromEntries(described) as JsonObject }),
  };
  let last = createdAt;
  for (const row of rowsOf("metrics")) {
    const [values, step] = [jsonColumn(row, "metrics", warnings), pointColumn(row, "step", warnings)];
    const time = readTime(textColumn(row, "timestamp") ?? "");
    if (Number.isFinite(time) && !(time <= last)) last = time;
    if (values === undefined || step === undefined) {
      if (step === undefined) warnings.add("malformed_value", "a row without a step");
      continue;
    }
    const at = { run: id, step, ...(Number.isFinite(time) ? { time } : {}) };
    for (const [key, value] of Object.entries(values)) yield* readValue({ points, warnings, at }, key, value);
    yield* points.full();
  }
  const start = createdAt;
  for (const row of tables.has("system_metrics") ? rowsOf("system_metrics") : []) {
    const time = readTime(textColumn(row, "timestamp") ?? "");
    for (const [key, value] of Object.entries(jsonColumn(row, "metrics", warnings) ?? {})) {
      const number = numberOf(value);
      if (number === undefined) warnings.add("malformed_value", key);
      else points.add(`system/${key}`, Math.max(0, (time - start) / 1000), number, time);
    }
    yield* points.full();
  }
  yield* points.rest();
  for (const table of unsupportedTables) {
    if (tables.has(table)) for (const _row of rowsOf(table)) warnings.add("unsupported", table);
  }
  if (Number.isFinite(last)) yield { kind: "run", run: id, source: "trackio", finishedAt: last };
  yield* warnings.take();
}

type Place = {
  readonly points: PointBatches;
  readonly warnings: Warnings;
  readonly at: { readonly run: string; readonly step: number; readonly time?: number };
};

function* readValue(place: Place, key: string, value: JsonValue): Generator<Item> {
  const { points, warnings, at } = place;
  for (const part of loggedParts(key, value, warnings)) {
    if ("number" in part) points.add(part.key, at.step, part.number, at.time);
    else if ("text" in part)
      yield { kind: "attribute", path: part.key, type: "string_series", ...at, value: part.text };
    else yield* readObject(place, part.key, part.type, part.value);
  }
}

function* readObject({ warnings, at }: Place, key: string, type: string, value: JsonObject): Generator<Item> {
  const object = media.get(type);
  if (object !== undefined) {
    const path = typeof value["file_path"] === "string" ? safePath(value["file_path"]) : undefined;
    const caption = typeof value["caption"] === "string" ? { metadata: { caption: value["caption"] } } : {};
    if (path === undefined) warnings.add("unsafe_path", key);
    else yield { kind: "object", object, key, ...at, ...caption, file: { path: `media/${path}` } };
  } else if (type === "trackio.histogram") {
    const histogram = histogramOf(numbersOf(value["bins"]), numbersOf(value["values"]));
    if (histogram === undefined) warnings.add("malformed_value", key);
    else yield { kind: "object", object: "histogram", key, ...at, value: histogram };
  } else if (type === "trackio.table") {
    const rows = Array.isArray(value["_value"])
      ? (value["_value"] as readonly JsonValue[]).filter(isObject)
      : undefined;
    if (rows === undefined) return warnings.add("malformed_value", key);
    if (rows.length > TABLE_ROWS_MAX)
      warnings.add("too_large", `${key}: rows of a table`, rows.length - TABLE_ROWS_MAX);
    const metadata = { row_count: rows.length };
    yield { kind: "object", object: "table", key, ...at, metadata, rows: rows.slice(0, TABLE_ROWS_MAX) };
  } else warnings.add("unsupported", `${key}: ${type}`);
}

/** Reads a column of JSON, which newer databases keep as bytes. Values that are not objects are counted. */
function jsonColumn(row: SqlRow, name: string, warnings: Warnings): JsonObject | undefined {
  const value = row[name];
  if (!(value instanceof Uint8Array) && typeof value !== "string") {
    warnings.add("malformed_value", name);
    return undefined;
  }
  if (value.length > LOG_BYTES_MAX) {
    warnings.add("too_large", name);
    return undefined;
  }
  const content = readPythonJson(typeof value === "string" ? value : Buffer.from(value).toString("utf8"));
  if (isObject(content)) return content;
  warnings.add("malformed_value", name);
  return undefined;
}

/** Reads a time of Python's `isoformat`. Without a zone it is UTC. */
function readTime(text: string): number {
  const parts = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)(Z|[+-]\d\d:\d\d)?$/.exec(text);
  return parts === null ? Number.NaN : Date.parse(`${parts[1]}T${parts[2]}${parts[3] ?? "Z"}`);
}
