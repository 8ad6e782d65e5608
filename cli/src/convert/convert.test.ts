import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { decodeLine, LINE_LENGTHS_MAX, type ArchiveLine } from "@tidemark/archive";
import type { PointsItem } from "@tidemark/import-formats";
import { openSource, type Source } from "../source/source.ts";
import { fixturesFolder, recordedSurroundings, temporaryFolder } from "../surroundings.fixture.ts";
import { createWarnings } from "../terminal/warnings.ts";
import { convert } from "./convert.ts";
import { sha256Of } from "./artifact-lines.ts";
import { runIdentity } from "./run-heads.ts";
import { createSpool } from "./spool.ts";

const databases = join(temporaryFolder(), "databases");
mkdirSync(databases);

/** Returns the path of a fixture; those that are compressed are unpacked. */
function pathOf(fixture: string, file?: string): string {
  if (file === undefined) return join(fixturesFolder, fixture, "data");
  const path = join(databases, file.replace(/\.gz$/, ""));
  writeFileSync(path, gunzipSync(readFileSync(join(fixturesFolder, fixture, "data", file))));
  return path;
}

/** Fixtures are called by their tracker and its version. */
const fixtures = readdirSync(fixturesFolder)
  .filter((fixture) => !fixture.endsWith("-server"))
  .map((fixture): [fixture: string, kind: string, path: string] => {
    const database = readdirSync(join(fixturesFolder, fixture, "data")).find((name) => name.endsWith(".db.gz"));
    return [fixture, fixture.split("-")[0]!, pathOf(fixture, database)];
  });

async function convertSource(source: Source, project?: string) {
  const warnings = createWarnings();
  const spool = await createSpool(temporaryFolder());
  const isThere = () => Promise.resolve(false);
  const converted = await convert({
    source,
    project,
    spool,
    readFiles: true,
    isThere,
    warnings,
    onPoints: () => undefined,
  });
  const text = readFileSync(converted.archive.path, "utf8");
  expect(converted.archive).toMatchObject({ bytes: Buffer.byteLength(text), sha256: sha256Of(Buffer.from(text)) });
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => decodeLine(line) as ArchiveLine);
  return { ...converted, lines, text, warnings };
}

/** No instant of an archive is later. */
const YEAR_10000 = Date.parse("9999-12-31T23:59:59.999Z") + 1;

type Points = Record<string, [number, number, number | null][]>;

/** What the reader says, by run and key; points before step 0, which the service does not take, are left out. */
async function readPoints(source: Source): Promise<Points> {
  const ids = new Map<string, string>();
  const points: Points = {};
  const add = (id: string, { key, steps, values, times }: PointsItem): void => {
    const rows = (points[`${id} ${key}`] ??= []);
    for (const [i, step] of steps.entries()) {
      const time = times?.[i] ?? Number.NaN;
      if (step >= 0) rows.push([step, values[i]!, time < YEAR_10000 ? Math.round(time * 1000) : null]);
    }
  };
  for await (const item of source.items()) {
    if (item.kind === "run" && !ids.has(item.run))
      ids.set(item.run, (await runIdentity(source, undefined, item, createWarnings())).id);
    else if (item.kind === "points") add(ids.get(item.run)!, item);
  }
  return Object.fromEntries(Object.entries(points).filter(([, rows]) => rows.length > 0));
}

describe.each(fixtures)("%s", (_fixture, kind, path) => {
  const open = async (): Promise<Source> => (await openSource(path, undefined, recordedSurroundings())) as Source;

  test("becomes lines that are those of an archive, point by point as it was read", async () => {
    const source = await open();
    expect(source.kind).toBe(kind);
    const { lines, counts } = await convertSource(source);
    const points: Points = {};
    for (const line of lines) {
      if (line.line !== "points") continue;
      const { step, value, timestamp } = line.columns;
      expect(step.length).toBeLessThanOrEqual(LINE_LENGTHS_MAX.points);
      const rows = (points[`${line.run_id} ${line.key}`] ??= []);
      for (const [i, at] of step.entries()) {
        const time = timestamp?.[i] ?? Number.NaN;
        rows.push([at, value[i]!, Number.isNaN(time) ? null : time]);
      }
    }
    expect(points).toEqual(await readPoints(source));
    expect(lines[0]).toMatchObject({ line: "export", version: 1 });
    expect(lines.at(-1)).toEqual({ line: "end", counts });
    expect(counts.points).toBe(Object.values(points).flat().length);
    for (const type of ["project", "run", "attribute", "object", "artifact"] as const) {
      expect([type, lines.filter(({ line }) => line === type).length]).toEqual([type, counts[type]]);
    }
  });

  test("names nothing before it is there, and nothing twice", async () => {
    const { lines } = await convertSource(await open());
    const seen = new Set<string>();
    for (const line of lines) {
      if ("project_id" in line) expect(seen).toContain(line.project_id);
      if ("run_id" in line) expect(seen).toContain(line.run_id);
      if ("artifact_id" in line && line.artifact_id !== undefined) expect(seen).toContain(line.artifact_id);
      if (!("id" in line) || line.line === "object.rows") continue;
      const id = typeof line.id === "number" ? `${line.line} ${line.id}` : line.id;
      expect(seen).not.toContain(id);
      seen.add(id);
    }
  });

  test("becomes the same archive each time, with other ids in another project", async () => {
    const [first, again] = [await convertSource(await open()), await convertSource(await open())];
    expect(again.archive.sha256).toBe(first.archive.sha256);
    const other = await convertSource(await open(), "elsewhere");
    const ids = ({ lines }: { lines: ArchiveLine[] }) =>
      lines.flatMap((line) => (line.line === "run" ? [line.id] : []));
    expect(other.projects).toEqual(["elsewhere"]);
    expect(ids(other).filter((id) => ids(first).includes(id))).toEqual([]);
  });

  test("names bytes by their SHA-256", async () => {
    const { lines, contents } = await convertSource(await open());
    const named = lines.flatMap((line) => (line.line === "artifact" && line.uri === undefined ? [line.sha256] : []));
    expect(new Set(named)).toEqual(new Set(contents.map(({ sha256 }) => sha256)));
    for (const { sha256, size, path: file } of contents) {
      const bytes = readFileSync(file);
      expect([sha256Of(bytes), bytes.length]).toEqual([sha256, size]);
    }
  });
});

test("runs of a project called all go to another one, with a warning", async () => {
  const { path } = fixtures.map(([, , at]) => ({ path: at })).find((_one, i) => fixtures[i]![1] === "dvclive")!;
  const source = (await openSource(path, undefined, recordedSurroundings())) as Source;
  const converted = await convertSource(source, " All");
  expect(converted.projects).toEqual(["All-1"]);
  expect(converted.warnings.lines().join()).toContain("put into the project All-1, because none may be called all");
});

test("integers of 64 bits end nothing: those of a config keep their digits, steps become the nearest doubles, times that no archive has are left out", async () => {
  const folder = join(temporaryFolder(), "odd");
  mkdirSync(folder);
  const path = join(folder, "odd.db");
  const database = new DatabaseSync(path);
  database.exec(`
    CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);
    CREATE TABLE runs (run_uuid TEXT, name TEXT, user_id TEXT, status TEXT, start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT,
      artifact_uri TEXT, experiment_id INTEGER);
    CREATE TABLE params (run_uuid TEXT, key TEXT, value TEXT);
    CREATE TABLE tags (run_uuid TEXT, key TEXT, value TEXT);
    CREATE TABLE metrics (run_uuid TEXT, key TEXT, value DOUBLE, timestamp BIGINT, step BIGINT, is_nan BOOLEAN);
    INSERT INTO runs VALUES ('a', 'first', 'u', 'FINISHED', 1764201600123456789, 1764201600123456790, 'active', '', NULL);
    INSERT INTO metrics VALUES ('a', 'k', 1, 1764201600123456789, 1, 0), ('a', 'k', 2, 1764201600000, 1764201600123456789, 0),
      ('a', 'k', 3, 1764201600001, 3, 0);`);
  database.close();
  const mlflow = await convertSource((await openSource(path, undefined, recordedSurroundings())) as Source);
  const [points] = mlflow.lines.filter((line) => line.line === "points");
  expect(points!.columns.step).toEqual(Float64Array.of(1764201600123456800, 3, 1));
  expect(points!.columns.timestamp).toEqual(Float64Array.of(1764201600000_000, 1764201600001_000, Number.NaN));
  expect(mlflow.warnings.lines()).toEqual([
    "1 x times outside of the years 1970 to 9999, first: k",
    "1 x integers that became the nearest double, first: a: step 1764201600123456789",
  ]);
  writeFileSync(join(folder, "params.yaml"), "seed: 9007199254740993\nnone: null\n");
  const dvclive = await convertSource((await openSource(folder, "dvclive", recordedSurroundings())) as Source);
  const [run] = dvclive.lines.filter((line) => line.line === "run");
  expect(run!.config).toBe('{"seed":9007199254740993,"none":null}');
});
