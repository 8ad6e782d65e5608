import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { chunkOf, tableOf } from "../objects/objects.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const attribute = (path: string, step?: number, value: unknown = 1, type = "config") => ({
  path,
  type,
  ...(step === undefined ? {} : { step }),
  valueJson: json(value),
  summaryJson: json({}),
});
const addAttributes = (attributes: ReturnType<typeof attribute>[], run = runId) =>
  ingest.write.appendAttributes({ runId: run, attributes }, callOf(tenant));
const addTable = (rows: readonly number[], more = {}, run = runId) =>
  ingest.write.createObject(tableOf(run, { chunks: rows.map((count) => chunkOf(count)), ...more }), callOf(tenant));
const measure = (runIds: readonly string[], attributesMax = 1000, tableRowsMax = 1000) =>
  ingest.read.measureRunData({ runIds: [...runIds], attributesMax, tableRowsMax }, callOf(tenant));

/** Reads all pages of a list. */
async function all<Row>(page: (cursor: string) => Promise<{ rows: Row[]; nextCursor: string }>): Promise<Row[][]> {
  const pages: Row[][] = [];
  let cursor = "";
  do {
    const { rows, nextCursor } = await page(cursor);
    pages.push(rows);
    cursor = nextCursor;
  } while (cursor !== "");
  return pages;
}
const attributesOf = (limit: number) =>
  all(async (cursor) => {
    const { attributes, nextCursor } = await ingest.read.pageAttributes({ runId, limit, cursor }, callOf(tenant));
    return { rows: attributes, nextCursor };
  });
const objectsOf = (kind: string, limit: number) =>
  all(async (cursor) => {
    const { objects, nextCursor } = await ingest.read.pageObjects({ runId, kind, limit, cursor }, callOf(tenant));
    return { rows: objects, nextCursor };
  });
const tablesOf = () =>
  all(async (cursor) => {
    const { tables, nextCursor } = await ingest.read.pageTableRows({ runId, cursor }, callOf(tenant));
    return { rows: tables, nextCursor };
  });

describe("measures", () => {
  test("say what each run has, in the order of the request", async () => {
    const empty = await ingest.newRun(tenant);
    const columns = columnsOf([1, { a: 1, b: 2 }], [2, { a: 3 }]);
    await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
    await addAttributes([attribute("x")]);
    await addTable([100, 7]);
    expect((await measure([empty, runId])).runs).toMatchObject([
      { points: 0, metricKeys: 0, hasAttributes: false, objectKinds: [] },
      { points: 3, metricKeys: 2, hasAttributes: true, objectKinds: ["table"] },
    ]);
  });

  test.each([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ])("of %i attributes: three attributes and objects are more: %s", async (max, more) => {
    await addAttributes([attribute("x"), attribute("y")]);
    await addTable([1]);
    expect((await measure([runId], max)).moreAttributes).toBe(more);
  });

  test("a histogram that is an attribute counts once", async () => {
    await addAttributes([attribute("h", 1, { bins: [1, 2], counts: [3] }, "histogram_series")]);
    expect(await measure([runId], 1)).toMatchObject({ moreAttributes: false, runs: [{ objectKinds: ["histogram"] }] });
  });

  test.each<[number[][], number]>([
    [[[1], [2], [100, 1]], 104],
    [[[], [99], [2]], 101],
    [[[100, 100], [100]], 300],
    [[[]], 0],
  ])("the rows of the tables %j are %i", async (tables, rows) => {
    for (const counts of tables) await addTable(counts);
    const isMore = async (max: number) => (await measure([runId], 1000, max)).moreTableRows;
    expect([await isMore(rows), await isMore(rows + 1), await isMore(1000)]).toEqual([false, false, false]);
    if (rows > 0) expect([await isMore(rows - 1), await isMore(0)]).toEqual([true, true]);
  });

  test("a run of somebody else is not found", async () => {
    const other = await ingest.newTenant();
    const foreign = await ingest.newRun(other);
    await expect(measure([runId, foreign])).rejects.toMatchObject({ reason: "not_found" });
    await expect(measure([randomUUID()])).rejects.toMatchObject({ reason: "not_found" });
    const elsewhere = await ingest.newRun(tenant, await ingest.newProject(tenant.orgId));
    const scoped = callOf(tenant, tenant.projectId);
    const request = { runIds: [elsewhere], attributesMax: 1, tableRowsMax: 1 };
    await expect(ingest.read.measureRunData(request, scoped)).rejects.toMatchObject({ reason: "not_found" });
  });
});

test("aggregates come key by key, in the order of bytes, with the steps of the latest and the best value", async () => {
  const columns = columnsOf([1, { loss: 5, é: 1 }], [3, { loss: 4, Z: -1 }], [2, { loss: 7 }]);
  await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
  const page = (after: string) => ingest.read.pageMetricAggregates({ runId, limit: 2, after }, callOf(tenant));
  const first = await page("");
  expect(first).toMatchObject({
    keys: ["Z", "loss"],
    count: [1, 3],
    min: [-1, 4],
    max: [-1, 7],
    latest: [-1, 4],
    latestStep: [3, 3],
    best: [-1, 4],
    bestStep: [3, 3],
  });
  expect(first.mean[1]).toBeCloseTo(16 / 3);
  expect(first.variance[0]).toBe(0);
  expect((await page("loss")).keys).toEqual(["é"]);
});

describe("pages of attributes", () => {
  test.each([1, 2, 3, 5000])("of %i: all of them, once, in the order of the list", async (limit) => {
    await addAttributes([attribute("s", 2), attribute("a"), attribute("s", 1), attribute("b"), attribute("t", 1)]);
    await addAttributes([attribute("c"), attribute("s", 0)]);
    const listed = await ingest.read.listAttributes({ runId, limit: 100 }, callOf(tenant));
    const pages = await attributesOf(limit);
    expect(pages.flat()).toEqual(listed.attributes);
    expect(pages.every((rows) => rows.length <= limit)).toBe(true);
  });

  test("end after 4 MiB, and hold at least one", async () => {
    const large = "x".repeat(3 * 1024 * 1024);
    for (const path of ["a", "b", "c"]) await addAttributes([attribute(path, undefined, large)]);
    expect((await attributesOf(100)).map((rows) => rows.map(({ path }) => path))).toEqual([["a"], ["b"], ["c"]]);
  });
});

describe("pages of objects", () => {
  test.each([1, 2, 500])("of %i: by step, those without one first, and no attributes", async (limit) => {
    for (const [key, step] of [
      ["two", 2],
      ["none", undefined],
      ["one", 1],
      ["one again", 1],
    ] as const) {
      await addTable([1], { key, ...(step === undefined ? {} : { step }) });
    }
    const histogram = { bins: [1, 2], counts: [3] };
    await addAttributes([attribute("h", 1, histogram, "histogram_series")]);
    const more = { kind: "histogram", valueJson: json(histogram), chunks: [] };
    await ingest.write.createObject(tableOf(runId, { ...more, key: "own" }), callOf(tenant));
    const keys = async (kind: string) => (await objectsOf(kind, limit)).flat().map(({ key }) => key);
    expect(await keys("table")).toEqual(["none", "one", "one again", "two"]);
    expect(await keys("histogram")).toEqual(["own"]);
  });
});

describe("pages of the rows of tables", () => {
  test("hold all chunks, in the order of the tables", async () => {
    const last = await addTable([100, 3], { step: 2 });
    const first = await addTable([5], { step: 1 });
    await addTable([], { step: 1 });
    const [rows, ...none] = await tablesOf();
    expect(none).toEqual([]);
    expect(rows!.map(({ objectId, firstRow, chunk }) => [objectId, firstRow, chunk!.rowCount])).toEqual([
      [first.object!.id, 0, 5],
      [last.object!.id, 0, 100],
      [last.object!.id, 100, 3],
    ]);
    expect(rows![0]!.createdAt).toBe(first.object!.createdAt);
  });

  test("end after 4 MiB of unpacked rows, within a table", async () => {
    const column = Buffer.from(`"${"x".repeat(15_000)}"\n`.repeat(100));
    const heavy = chunkOf(100, { columns: [column] });
    await addTable([], { chunks: Array.from({ length: 7 }, () => heavy) });
    await addTable([1]);
    const pages = await tablesOf();
    expect(pages.map((rows) => rows.map(({ firstRow }) => firstRow))).toEqual([
      [0, 100, 200],
      [300, 400, 500],
      [600, 0],
    ]);
  });

  test("go on after 256 tables", async () => {
    for (let i = 0; i < 260; i++) await addTable([1], { step: i });
    expect((await tablesOf()).map((rows) => rows.length)).toEqual([256, 4]);
  });
});

test.each(["?", "W10", "WzFd"])("the cursor %s is refused", async (cursor) => {
  const refused = { reason: "bad_request", field: "cursor" };
  await expect(ingest.read.pageAttributes({ runId, limit: 1, cursor }, callOf(tenant))).rejects.toMatchObject(refused);
  await expect(ingest.read.pageTableRows({ runId, cursor }, callOf(tenant))).rejects.toMatchObject(refused);
  await expect(
    ingest.read.pageObjects({ runId, kind: "table", limit: 1, cursor }, callOf(tenant)),
  ).rejects.toMatchObject(refused);
});
