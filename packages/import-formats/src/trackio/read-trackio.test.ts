import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  collect,
  expectedPoints,
  fixturesFolder,
  readExpected,
  type Collected,
  type CollectedRun,
} from "../collect.fixture.ts";
import { sqliteQuery } from "../sql-rows.ts";
import { withDatabase } from "../sqlite.fixture.ts";
import { readTrackio } from "./read-trackio.ts";

type ExpectedRun = Pick<CollectedRun, "points" | "texts" | "histograms" | "images" | "tables"> & {
  readonly config: Record<string, unknown>;
  readonly name: string;
};

const fixture = "trackio-0.43.0";
const expected = readExpected<ExpectedRun>(fixture).runs;
const database = gunzipSync(readFileSync(join(fixturesFolder, fixture, "data/nets-ü.db.gz")));
const read = (bytes: Uint8Array = database): Promise<Collected> =>
  withDatabase(bytes, (query) => collect(readTrackio(query, "nets-ü")));

test("the runs are those that trackio lists", async () => {
  expect(Object.keys((await read()).runs).toSorted()).toEqual(Object.keys(expected).toSorted());
});

test.each(Object.keys(expected))("run %s has what trackio reads, point by point", async (id) => {
  const { runs } = await read();
  const { points, texts, histograms, images, tables, config, name } = expected[id]!;
  const run = runs[id]!;
  expect(run.points).toEqual(expectedPoints(points));
  const { texts: foundTexts, histograms: foundHistograms, images: foundImages, tables: foundTables } = run;
  expect({ foundTexts, foundHistograms, foundImages, foundTables }).toEqual({
    foundTexts: texts,
    foundHistograms: histograms,
    foundImages: images,
    foundTables: tables,
  });
  expect(run.fields).toMatchObject({ name, config, project: "nets-ü", status: "finished" });
  expect(run.fields.finishedAt).toBeGreaterThanOrEqual(run.fields.startedAt!);
});

test("data without a place is counted", async () => {
  const { runs, warnings } = await read();
  const [id] = Object.entries(runs).find(([, { fields }]) => fields.name === "first ☃")!;
  // A list and an alert.
  expect(warnings[id]).toEqual({ unsupported: 2 });
  expect(runs[id]!.fields.metadata).toEqual({ group: "g" });
});

test("a database of the first versions knows runs by their names", async () => {
  const old = new DatabaseSync(":memory:");
  old.exec(`
    CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT);
    CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT, created_at TEXT);
    INSERT INTO metrics VALUES (1, '2026-11-22T10:00:00', 'a', 0, '{"loss": 0.5}');
    INSERT INTO configs VALUES (1, 'a', '{"lr": 1}', '2026-11-22T10:00:00');`);
  const { runs, warnings } = await collect(readTrackio(sqliteQuery(old), "p"));
  expect(runs["a"]!.points).toEqual({ loss: [[0, 0.5, Date.UTC(2026, 10, 22, 10)]] });
  expect(runs["a"]!.fields).toMatchObject({ name: "a", config: { lr: 1 } });
  expect(warnings).toEqual({});
});

test("integers of 64 bits end nothing, and those of a config keep their digits", async () => {
  const odd = new DatabaseSync(":memory:");
  odd.exec(`
    CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT);
    CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT, created_at TEXT);
    INSERT INTO metrics VALUES (1, '2026-11-22T10:00:00', 'a', 1764201600123456789, '{"loss": 0.5}'),
      (2, '2026-11-22T10:00:00', 'a', 1, '{"loss": 9007199254740993, "t": {"n": 3}}'), (3, '2026-11-22T10:00:00', 'a', 2, '{"loss": 0.25}');
    INSERT INTO configs VALUES (1, 'a', '{"seed": 9007199254740993, "none": null, "list": [-9223372036854775808, NaN]}', '2026-11-22T10:00:00');`);
  const { runs, warnings } = await collect(readTrackio(sqliteQuery(odd), "p"));
  const time = Date.UTC(2026, 10, 22, 10);
  expect(runs["a"]!.points).toEqual({
    loss: [
      [1764201600123456800, 0.5, time],
      [1, 2 ** 53, time],
      [2, 0.25, time],
    ],
    "t.n": [[1, 3, time]],
  });
  expect(JSON.stringify(runs["a"]!.fields.config)).toBe(
    '{"seed":9007199254740993,"none":null,"list":[-9223372036854775808,"NaN"]}',
  );
  expect(warnings).toEqual({ a: { rounded_integer: 2 } });
});

test("a damaged database ends without an error, and says that something is missing", async () => {
  const flips = fc.array(fc.tuple(fc.nat(database.length - 1), fc.nat(255)), { minLength: 1, maxLength: 200 });
  const cut = fc.option(fc.nat(database.length), { nil: database.length });
  await fc.assert(
    fc.asyncProperty(flips, cut, async (changes, length) => {
      const bytes = Buffer.from(database.subarray(0, length));
      for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
      const { runs, warnings } = await read(bytes);
      if (length > 0 && Object.keys(runs).length === 0) expect(Object.keys(warnings)).not.toEqual([]);
    }),
    { numRuns: 100 },
  );
});
