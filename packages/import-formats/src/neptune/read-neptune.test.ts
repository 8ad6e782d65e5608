import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
import { readNeptuneParquet, type NeptuneFile } from "./read-neptune.ts";

type ExpectedRun = Pick<CollectedRun, "points" | "texts" | "histograms" | "images"> & {
  readonly config: Record<string, unknown>;
};

const fixture = "neptune-exporter";
const expected = readExpected<ExpectedRun>(fixture).runs;
const root = join(fixturesFolder, fixture, "data");
const paths = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(".parquet"));

function fileOf(path: string, bytes: Buffer = readFileSync(join(root, path))): NeptuneFile {
  const slice = (start: number, end?: number): Promise<ArrayBuffer> =>
    Promise.resolve(Uint8Array.prototype.slice.call(bytes, start, end).buffer);
  return { path, file: { byteLength: bytes.length, slice } };
}

const read = (files: readonly NeptuneFile[] = paths.map((path) => fileOf(path))): Promise<Collected> =>
  collect(readNeptuneParquet(files));

test("the runs are those of whole exports", async () => {
  const { runs, warnings } = await read();
  expect(Object.keys(runs)).toEqual(["RUN-1", "RUN-2"]);
  expect(warnings[""]).toEqual({ torn_tail: 1 });
});

test.each(Object.keys(expected))("run %s has what pyarrow reads, point by point", async (id) => {
  const { runs } = await read();
  const { points, texts, histograms, images, config } = expected[id]!;
  const run = runs[id]!;
  expect(run.points).toEqual(expectedPoints(points));
  expect({ texts: run.texts, histograms: run.histograms, images: run.images }).toEqual({ texts, histograms, images });
  expect(run.fields.config).toEqual(config);
});

test("values below sys/ say what a run is", async () => {
  const { runs, warnings } = await read();
  expect(runs["RUN-1"]!.fields).toMatchObject({
    project: "my-org/nets-ü",
    name: "first ☃",
    notes: "one\ntwo",
    tags: ["a", "ü", "g"],
    status: "failed",
    startedAt: Date.UTC(2026, 10, 18, 12, 26, 40, 123),
  });
  expect(runs["RUN-2"]!.fields).toMatchObject({ status: "finished", fork: { parent: "RUN-1", step: 2.5 } });
  expect(warnings["RUN-1"]).toEqual({ unsafe_path: 2 });
});

test("console lines and files", async () => {
  const { lines, files } = (await read()).runs["RUN-1"]!;
  expect(lines).toEqual({ stdout: ["100%", "next line"], stderr: ["trouble"] });
  expect(files).toEqual({ model: { type: "file", path: "RUN-1/model/weights.bin" } });
});

test("parts that lack the first one are read, and counted", async () => {
  const { runs, warnings } = await read(paths.filter((path) => path.includes("_part_1")).map((path) => fileOf(path)));
  expect(runs["RUN-1"]!.points["train/loss"]).not.toEqual([]);
  expect(warnings[""]).toEqual({ torn_tail: 1 });
});

test("a damaged part leaves the other parts readable, and no promise rejects unhandled", async () => {
  const leaked: unknown[] = [];
  const onLeak = (reason: unknown): void => void leaked.push(reason);
  process.on("unhandledRejection", onLeak);
  const second = paths.find((path) => path.includes("_part_1"))!;
  const first = paths.find((path) => path.startsWith(second.slice(0, second.indexOf("_part_"))) && path !== second)!;
  const bytes = readFileSync(join(root, second));
  const alone = (await read([fileOf(first)])).runs["RUN-1"]!;
  const flips = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 5 });
  const cut = fc.option(fc.nat(bytes.length - 1), { nil: bytes.length });
  await fc.assert(
    fc.asyncProperty(flips, cut, async (changes, length) => {
      const changed = Buffer.from(bytes.subarray(0, length));
      for (const [at, byte] of changes) if (at < length) changed[at] = byte;
      const { runs, warnings } = await read([fileOf(first), fileOf(second, changed)]);
      for (const [key, rows] of Object.entries(alone.points)) {
        expect(runs["RUN-1"]!.points[key]!.slice(0, rows.length)).toEqual(rows);
      }
      if (length < bytes.length) expect(warnings[""]).toMatchObject({ damaged: expect.any(Number) });
    }),
    { numRuns: 200 },
  );
  // Node reports such promises when the microtasks are done.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", onLeak);
  expect(leaked).toEqual([]);
});
