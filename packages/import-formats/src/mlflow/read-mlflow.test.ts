import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { exactInteger } from "@tidemark/values";
import fc from "fast-check";
import {
  collect,
  expectedPoints,
  fixturesFolder,
  readExpected,
  type Collected,
  type CollectedRun,
} from "../collect.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
import type { JsonValue } from "../items.ts";
import { sqliteQuery } from "../sql-rows.ts";
import { withDatabase } from "../sqlite.fixture.ts";
import { readMlflowDatabase } from "./read-database.ts";
import { readMlflowFolder } from "./read-folder.ts";
import { readMlflowServer, type FetchJson } from "./read-server.ts";

type ExpectedRun = Pick<CollectedRun, "points"> & {
  readonly params: Record<string, string>;
  readonly tags: Record<string, string>;
  readonly name: string;
  readonly experiment: string;
  readonly status: string;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly artifacts: Record<string, number>;
};

const database = gunzipSync(readFileSync(join(fixturesFolder, "mlflow-3.17.2-database/data/mlflow.db.gz")));

const answers = JSON.parse(
  readFileSync(join(fixturesFolder, "mlflow-3.17.2-server/data/answers.json"), "utf8"),
) as Record<string, string>;

/** Answers as the server did when the fixture was written. */
const fetchJson: FetchJson = (method, path, parameters) => {
  const members = Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const answer = answers[JSON.stringify([method, path, Object.fromEntries(members)])];
  if (answer === undefined) throw new Error(`the fixture has no answer to ${path} ${JSON.stringify(parameters)}`);
  return Promise.resolve(JSON.parse(answer) as JsonValue);
};

const readers: Readonly<Record<string, () => Promise<Collected>>> = {
  "mlflow-2.22.0": () => collect(readMlflowFolder(fixtureTree("mlflow-2.22.0"))),
  "mlflow-3.17.2": () => collect(readMlflowFolder(fixtureTree("mlflow-3.17.2"))),
  "mlflow-3.17.2-database": () => withDatabase(database, (query) => collect(readMlflowDatabase(query))),
  "mlflow-3.17.2-server": () => collect(readMlflowServer(fetchJson, 3)),
};

const statuses: Readonly<Record<string, string>> = { FINISHED: "finished", KILLED: "failed", RUNNING: "running" };

/** MLflow lists a history in no order that it promises. */
function sorted(points: CollectedRun["points"]): CollectedRun["points"] {
  const entries = Object.entries(points).map(
    ([key, rows]) => [key, rows.toSorted((a, b) => a[0] - b[0] || String(a[1]).localeCompare(String(b[1])))] as const,
  );
  return Object.fromEntries(entries);
}

test.each(Object.keys(readers))("%s has what MLflow reads, run by run and point by point", async (fixture) => {
  const { runs } = await readers[fixture]!();
  const expected = readExpected<ExpectedRun>(fixture).runs;
  expect(Object.keys(runs).toSorted()).toEqual(Object.keys(expected).toSorted());
  for (const [id, { points, params, tags, ...info }] of Object.entries(expected)) {
    const { fields, points: found, files } = runs[id]!;
    expect(sorted(found)).toEqual(sorted(expectedPoints(points)));
    expect(fields.config).toEqual(params);
    expect({ name: fields.name, project: fields.project }).toEqual({ name: info.name, project: info.experiment });
    expect(fields.status).toBe(statuses[info.status]);
    expect([fields.startedAt, fields.finishedAt ?? null]).toEqual([info.startedAt, info.finishedAt]);
    const { "mlflow.runName": _name, "mlflow.note.content": notes, "mlflow.parentRunId": parent, ...ours } = tags;
    const { "mlflow.user": user, ...plain } = ours;
    expect(fields.notes).toBe(notes);
    expect(fields.metadata?.["mlflow"]).toMatchObject({
      tags: plain,
      ...(parent === undefined ? {} : { parent_run_id: parent }),
      ...(user === undefined ? {} : { user }),
    });
    if (fixture.endsWith("database")) continue;
    expect(Object.fromEntries(Object.entries(files).map(([name, { size }]) => [name, size]))).toEqual(info.artifacts);
  }
});

test.each(Object.keys(readers))("%s: deleted runs are counted", async (fixture) => {
  expect((await readers[fixture]!()).warnings[""]).toEqual({ deleted_run: 2 });
});

test("files of a folder are named by their paths, those of a server by their address", async () => {
  const folder = Object.values((await readers["mlflow-3.17.2"]!()).runs).flatMap(({ files }) => Object.entries(files));
  expect(folder).toEqual([
    ["deep/folder/model.txt", { size: 7, path: expect.stringMatching(/^mlruns\/.*\/model\.txt$/) }],
  ]);
  const server = Object.values((await readers["mlflow-3.17.2-server"]!()).runs).flatMap(({ files }) =>
    Object.values(files),
  );
  expect(server).toEqual([{ size: 7, uri: expect.stringMatching(/\/artifacts\/deep\/folder\/model\.txt$/) }]);
});

test("a folder whose files are damaged gives the others", async () => {
  const fixture = "mlflow-3.17.2";
  const whole = await readers[fixture]!();
  const [id] = Object.entries(whole.runs).find(([, { points }]) => points["train/loss"] !== undefined)!;
  const experiment = await fixtureTree(fixture).list("mlruns");
  const paths: string[] = [];
  for (const { name } of experiment) {
    const runs = await fixtureTree(fixture).list(`mlruns/${name}`);
    if (runs.some((run) => run.name === id)) paths.push(`mlruns/${name}/${id}`);
  }
  const metric = `${paths[0]}/metrics/train/loss`;
  const bytes = readFileSync(join(fixturesFolder, fixture, "data", metric));
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cut) => {
      const changed = cut ? bytes.subarray(0, at) : Buffer.from(bytes);
      if (!cut) changed[at] = byte;
      const meta = { [`${paths[0]}/meta.yaml`]: Buffer.from(`a: [${"[".repeat(at)}`) };
      const { runs, warnings } = await collect(readMlflowFolder(fixtureTree(fixture, { [metric]: changed })));
      const before = bytes.subarray(0, at).toString().split("\n").length - 1;
      const kept = whole.runs[id]!.points["train/loss"]!.slice(0, before);
      expect((runs[id]!.points["train/loss"] ?? []).slice(0, before)).toEqual(kept);
      if (cut && at > 0 && bytes[at - 1] !== 0x0a) expect(warnings[id]).toMatchObject({ torn_tail: 1 });
      expect(Object.keys((await collect(readMlflowFolder(fixtureTree(fixture, meta)))).runs)).toHaveLength(2);
    }),
    { numRuns: 25 },
  );
});

test("a damaged database ends without an error and counts the damage", async () => {
  const whole = await withDatabase(database, (query) => collect(readMlflowDatabase(query)));
  const flips = fc.array(fc.tuple(fc.nat(database.length - 1), fc.nat(255)), { minLength: 1, maxLength: 400 });
  const cut = fc.option(fc.nat(database.length), { nil: database.length });
  await fc.assert(
    fc.asyncProperty(flips, cut, async (changes, length) => {
      const bytes = Buffer.from(database.subarray(0, length));
      for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
      const { runs, warnings } = await withDatabase(bytes, (query) => collect(readMlflowDatabase(query)));
      const isWhole = Object.keys(runs).length === Object.keys(whole.runs).length;
      if (length < database.length / 4) expect(isWhole).toBe(false);
      if (Object.keys(runs).length === 0) expect(Object.keys(warnings)).not.toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test("a server whose answers are something else ends the lists", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { minLength: 1 }), async (values) => {
      let sent = 0;
      const odd: FetchJson = (_method, path) => {
        const value = values[sent++ % values.length] as JsonValue;
        const member = path === "experiments/search" ? "experiments" : path === "runs/search" ? "runs" : "metrics";
        return Promise.resolve(sent % 3 === 0 ? value : { [member]: [value, {}], next_page_token: "again" });
      };
      await collect(readMlflowServer(odd));
      expect(sent).toBeGreaterThan(0);
    }),
    { numRuns: 100 },
  );
});

test("integers of 64 bits end nothing: each point of a database arrives, steps as the nearest doubles", async () => {
  const odd = new DatabaseSync(":memory:");
  odd.exec(`
    CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);
    CREATE TABLE runs (run_uuid TEXT, name TEXT, user_id TEXT, status TEXT, start_time BIGINT, end_time BIGINT, lifecycle_stage TEXT,
      artifact_uri TEXT, experiment_id INTEGER);
    CREATE TABLE params (run_uuid TEXT, key TEXT, value TEXT);
    CREATE TABLE tags (run_uuid TEXT, key TEXT, value TEXT);
    CREATE TABLE metrics (run_uuid TEXT, key TEXT, value NUMERIC, timestamp BIGINT, step BIGINT, is_nan BOOLEAN);
    INSERT INTO runs VALUES ('a', 'first', 'u', 'FINISHED', 1764201600123456789, 1764201600123456790, 'active', '', NULL),
      ('b', 'second', 'u', 'FINISHED', 1764201600000, 1764201600001, 'active', '', NULL);
    INSERT INTO params VALUES ('a', 'seed', 9007199254740993);
    INSERT INTO metrics VALUES ('a', 'loss', 0.5, 1764201600000, 0, 0),
      ('a', 'loss', 0.25, 1764201600001, 1764201600123456789, 0),
      ('a', 'loss', 9007199254740993, 1764201600002, 2, 0),
      ('a', 'loss', 0.125, 1764201600123456789, 3, 0),
      ('a', 'loss', 1, 1764201600003, 9223372036854775807, 0),
      ('b', 'loss', 2, 1764201600000, 1, 0);`);
  const { runs, warnings } = await collect(readMlflowDatabase(sqliteQuery(odd)));
  expect(runs["a"]!.points["loss"]).toEqual([
    [0, 0.5, 1764201600000],
    [1764201600123456800, 0.25, 1764201600001],
    [2, 2 ** 53, 1764201600002],
    [2 ** 63, 1, 1764201600003],
    [3, 0.125, 1764201600123456800],
  ]);
  expect(runs["a"]!.fields.config).toEqual({ seed: "9007199254740993" });
  expect(runs["b"]!.points).toEqual({ loss: [[1, 2, 1764201600000]] });
  expect(warnings).toEqual({ a: { rounded_integer: 3 } });
});

test("steps and values of a server and a folder that no double holds are counted", async () => {
  const answerOf = (path: string): JsonValue => {
    if (path === "experiments/search") return { experiments: [{ experiment_id: "0", name: "e" }] };
    if (path === "runs/search") return { runs: [{ info: { run_id: "r" }, data: { metrics: [{ key: "k" }] } }] };
    const steps = ["9007199254740993", "9007199254740992", exactInteger(2n ** 53n + 1n)];
    return path === "artifacts/list" ? {} : { metrics: steps.map((step) => ({ step, value: 1, timestamp: "5" })) };
  };
  const server = await collect(readMlflowServer((_method, path) => Promise.resolve(answerOf(path))));
  expect(server.runs["r"]!.points["k"]).toEqual([2 ** 53, 2 ** 53, 2 ** 53].map((step) => [step, 1, 5]));
  expect(server.warnings).toEqual({ r: { rounded_integer: 2 } });
  const fixture = "mlflow-3.17.2";
  const [id] = Object.entries((await readers[fixture]!()).runs).find(([, { points }]) => points["train/loss"])!;
  const experiments = await fixtureTree(fixture).list("mlruns");
  const name = experiments.map((entry) => entry.name).find((folder) => folder.startsWith("8"))!;
  const lines = "5 1 9007199254740993\n6 9007199254740993 2\n7 1 9007199254740992\n";
  const folder = fixtureTree(fixture, { [`mlruns/${name}/${id}/metrics/train/loss`]: Buffer.from(lines) });
  const { runs, warnings } = await collect(readMlflowFolder(folder));
  expect(runs[id]!.points["train/loss"]).toEqual([
    [2 ** 53, 1, 5],
    [2, 2 ** 53, 6],
    [2 ** 53, 1, 7],
  ]);
  expect(warnings[id]?.rounded_integer).toBe(2);
});
