import { expect, test } from "@jest/globals";
import { collect, expectedPoints, readExpected, type Collected, type CollectedRun } from "../collect.fixture.ts";
import { fixtureTree } from "../disk-tree.fixture.ts";
import { readWandb } from "./read-wandb.ts";

type ExpectedRun = Pick<CollectedRun, "points" | "texts" | "histograms" | "images"> & {
  readonly config: Record<string, unknown>;
  readonly status: string;
  readonly name: string;
  readonly notes: string;
  readonly project: string;
  readonly group: string;
  readonly tags: readonly string[];
  readonly tables: Record<string, [number, string][]>;
  readonly artifacts: Record<string, [name: string, aliases: string[], size: number]>;
  readonly console?: readonly string[];
};

const versions = ["wandb-0.15.12", "wandb-0.31.0"];
const runs = versions.flatMap((fixture) =>
  Object.entries(readExpected<ExpectedRun>(fixture).runs).map(([id, expected]) => ({ fixture, id, expected })),
);
const read = (fixture: string): Promise<Collected> => collect(readWandb(fixtureTree(fixture)));

test.each(versions)("the runs of %s are those that W&B reads", async (fixture) => {
  expect(Object.keys((await read(fixture)).runs).toSorted()).toEqual(["failed", "main", "torn"]);
});

test.each(runs)("run $id of $fixture has what W&B reads, point by point", async ({ fixture, id, expected }) => {
  const { runs: found } = await read(fixture);
  const run = found[id]!;
  expect(run.points).toEqual(expectedPoints(expected.points));
  expect(run.texts).toEqual(expected.texts);
  expect(run.histograms).toEqual(expected.histograms);
  expect(run.images).toEqual(expected.images);
  expect(run.fields.config).toEqual(expected.config);
  expect(run.fields.status).toBe(expected.status);
  const { name = "", notes = "", project = "", tags = [], metadata } = run.fields;
  expect({ name, notes, project, tags, group: metadata?.["group"] ?? "" }).toEqual({
    name: expected.name,
    notes: expected.notes,
    project: expected.project,
    tags: expected.tags,
    group: expected.group,
  });
  expect(Object.keys(run.tables)).toEqual(Object.keys(expected.tables));
});

test.each(versions)("%s: media, files, console and summary of a run", async (fixture) => {
  const { runs: found, warnings } = await read(fixture);
  const expected = readExpected<ExpectedRun>(fixture).runs["main"]!;
  const { tables, files, lines, fields } = found["main"]!;
  const rows = [
    { a: 1, ü: "x" },
    { a: null, ü: "y" },
  ];
  expect(tables["table"]).toEqual([[131, rows]]);
  for (const [path, [name, aliases, size]] of Object.entries(expected.artifacts)) {
    expect(files[path]).toMatchObject({ type: "model", size, artifact: { name, aliases } });
  }
  expect(files["deep/weights.txt"]).toMatchObject({ digest: "md5:5d41402abc4b2a76b9719d911017c592" });
  expect(files["data.csv"]).toMatchObject({ uri: "https://example.com/data.csv" });
  expect(files["notes.txt"]).toMatchObject({ size: 4, path: expect.stringMatching(/-main\/files\/notes\.txt$/) });
  expect(lines).toEqual({ stdout: ["100%", "next line"], stderr: ["trouble ☃"] });
  expect(fields.metadata).toMatchObject({ job_type: "train", host: "fixture", exit_code: 0, summary: { best: 3 } });
  expect(fields.finishedAt).toBeGreaterThan(fields.startedAt!);
  // A list, a page of HTML; the files of two artifacts are in a cache.
  expect(warnings["main"]).toMatchObject({ unsupported: 2, missing: 2 });
});

test("the console is what W&B itself makes of it", async () => {
  const { console: written } = readExpected<ExpectedRun>("wandb-0.31.0").runs["main"]!;
  const { lines } = (await read("wandb-0.31.0")).runs["main"]!;
  expect(Object.values(lines).flat()).toEqual(written);
});

test("a file that ends within a record says so", async () => {
  for (const fixture of versions) expect((await read(fixture)).warnings["torn"]).toMatchObject({ torn_tail: 1 });
});
