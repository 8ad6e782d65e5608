import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";

import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { chunkOf, tableOf } from "./objects.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest({ searchRuns: ({ q }) => Promise.resolve(q === "mine" ? [runId] : []) });
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runId = await ingest.newRun(tenant);
});

const put = (more: Parameters<typeof tableOf>[1] = {}) =>
  ingest.write.createObject(tableOf(runId, more), callOf(tenant));

describe("an object that no gateway has checked", () => {
  test.each([
    ["an unknown kind", { kind: "text" }, "kind"],
    ["a negative step", { step: -1 }, "step"],
    ["an infinite step", { step: Infinity }, "step"],
    ["a medium without an artifact", { kind: "image" }, "artifact_id"],
    ["an artifact id that is none", { artifactId: "x" }, "artifact_id"],
    ["metadata of 16,385 bytes", { metadataJson: Buffer.alloc(16_385) }, "metadata"],
    ["a summary of 16,385 bytes", { summaryJson: Buffer.alloc(16_385) }, "summary"],
    ["a summary that is not an object", { summaryJson: Buffer.from("[]") }, "summary"],
    ["a value of 65,537 bytes", { valueJson: Buffer.alloc(65_537) }, "value"],
    ["rows of a histogram", { kind: "histogram", chunks: [chunkOf(1)] }, "rows"],
    ["eleven chunks", { chunks: Array.from({ length: 11 }, () => chunkOf(100)) }, "rows"],
    ["a short chunk before the last one", { chunks: [chunkOf(99), chunkOf(1)] }, "rows"],
    ["an empty chunk", { chunks: [chunkOf(0)] }, "rows"],
    ["a chunk of 101 rows", { chunks: [chunkOf(101)] }, "rows"],
    ["a name without a column", { chunks: [chunkOf(1, { names: ["a", "b"] })] }, "rows"],
    ["no shape", { chunks: [chunkOf(1, { shapes: [] })] }, "rows"],
    ["a shape of a name that does not exist", { chunks: [chunkOf(1, { shapes: [{ names: [1] }] })] }, "rows"],
    ["a shape with a name twice", { chunks: [chunkOf(1, { shapes: [{ names: [0, 0] }] })] }, "rows"],
    ["a row of a shape that does not exist", { chunks: [chunkOf(1, { rowShapes: [1] })] }, "rows"],
    ["more shapes of rows than rows", { chunks: [chunkOf(1, { rowShapes: [0, 0] })] }, "rows"],
    ["more than 16 MiB of cells", { chunks: [chunkOf(1, { columns: [Buffer.alloc(2 ** 24 + 1)] })] }, "rows"],
  ])("with %s is refused", async (_, more, field) => {
    await expect(put(more)).rejects.toMatchObject({ reason: "bad_request", field });
    expect((await ingest.read.listObjects({ runId, limit: 1 }, callOf(tenant))).objects).toEqual([]);
  });

  test("asks for another id when its own is that of an attribute", async () => {
    const ids = [1, 1, 2];
    const writer = ingest.writer({ take: () => ids.shift()! });
    const attribute = { path: "a", type: "config", valueJson: Buffer.from("1"), summaryJson: Buffer.from("{}") };
    await writer.appendAttributes({ runId, attributes: [attribute] }, callOf(tenant));
    const { object } = await writer.createObject(tableOf(runId), callOf(tenant));
    expect(object!.id).toBe(2);
  });

  test("under one key is stored once by two processes at the same time", async () => {
    const writers = [ingest.writer(), ingest.writer()];
    const request = tableOf(runId, { idempotencyKey: "k", chunks: [chunkOf(3)] });
    const answers = await Promise.all(writers.map((writer) => writer.createObject(request, callOf(tenant))));
    expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
    expect(answers[0]!.object).toEqual(answers[1]!.object);
  });
});

test("rows are read from the chunks that hold the page", async () => {
  const chunks = [chunkOf(100), chunkOf(100), chunkOf(50)];
  const { object } = await put({ chunks });
  const read = (offset: number, limit: number) =>
    ingest.read.listTableRows({ objectId: object!.id, offset, limit }, callOf(tenant));
  expect(await read(0, 100)).toMatchObject({ firstRow: 0, chunks: [{ rowCount: 100 }] });
  expect(await read(150, 100)).toMatchObject({ firstRow: 100, chunks: [{ rowCount: 100 }, { rowCount: 50 }] });
  expect((await read(1000, 1)).chunks).toEqual([]);
  await expect(read(0, 1001)).rejects.toMatchObject({ reason: "bad_request", field: "limit" });
});

describe("a list of objects of many runs", () => {
  const explore = (query: object, call = callOf(tenant)) => ingest.read.exploreObjects({ limit: 2, ...query }, call);

  test("continues after objects that a part of a key excludes, more of them than a page looks at", async () => {
    const fill =
      testSql(`INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, value, metadata, summary, bytes, created_at)
       SELECT $1, n, $2, $3, CASE WHEN n % 5000 = 1 THEN 'wanted' ELSE 'other' END, 'table', false, n, '1', '{}', '{}', 9, now()
       FROM generate_series(1, 12001) AS n`);
    await ingest.db.withTenant(tenant.orgId, (tx) => tx.rows(fill, [tenant.orgId, runId, tenant.projectId]));
    for (const scope of [{}, { projectId: tenant.projectId }, { runId }, { q: "mine" }]) {
      const steps: number[] = [];
      const sizes: number[] = [];
      let cursor = "";
      do {
        const page = await explore({ ...scope, key: "want", cursor });
        sizes.push(page.objects.length);
        steps.push(...page.objects.map(({ object }) => object!.step!));
        cursor = page.nextCursor;
      } while (cursor !== "");
      expect(steps).toEqual([10_001, 5001, 1]);
      expect(sizes).toContain(0);
    }
  });

  test("of a search that finds no run, or a project of another name, is empty", async () => {
    await put();
    expect((await explore({})).objects).toHaveLength(1);
    for (const query of [{ q: "nobody" }, { project: "x" }, { projectId: randomUUID() }, { projectId: "x" }]) {
      expect(await explore(query)).toMatchObject({ objects: [], nextCursor: "" });
    }
  });

  test.each([0, 101])("of a limit of %d is refused", async (limit) => {
    await expect(explore({ limit })).rejects.toMatchObject({ reason: "object_explorer_invalid", field: "limit" });
  });
});
