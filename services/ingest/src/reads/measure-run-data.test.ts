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

  test("a run of another organization is not found", async () => {
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
