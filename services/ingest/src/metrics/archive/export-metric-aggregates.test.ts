import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";

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

const exported = (runIds: string[]) =>
  Array.fromAsync(ingest.archive.exportMetricAggregates({ runIds }, callOf(tenant)));

test("aggregates are sent key by key, in the order of bytes, with the steps of the latest and the best value", async () => {
  const columns = columnsOf([1, { loss: 5, é: 1 }], [3, { loss: 4, Z: -1 }], [2, { loss: 7 }]);
  await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
  const [page, ...more] = await exported([runId]);
  expect(more).toEqual([]);
  expect(page).toMatchObject({
    runId,
    keys: ["Z", "loss", "é"],
    count: [1, 3, 1],
    min: [-1, 4, 1],
    max: [-1, 7, 1],
    latest: [-1, 4, 1],
    latestStep: [3, 3, 1],
    best: [-1, 4, 1],
    bestStep: [3, 3, 1],
  });
  expect(page!.mean[1]).toBeCloseTo(16 / 3);
  expect(page!.variance[0]).toBe(0);
});

test("pages have 5,000 keys, and runs without metrics none", async () => {
  const keys = Array.from({ length: 5001 }, (_, i) => `k${String(i).padStart(4, "0")}`);
  for (let at = 0; at < keys.length; at += 1000) {
    const metrics = Object.fromEntries(keys.slice(at, at + 1000).map((key) => [key, 1]));
    await ingest.write.appendMetrics({ runId, columns: columnsOf([1, metrics]) }, callOf(tenant));
  }
  const pages = await exported([await ingest.newRun(tenant), runId]);
  expect(pages.map((page) => page.keys.length)).toEqual([5000, 1]);
  expect(pages.flatMap((page) => page.keys)).toEqual(keys);
});
