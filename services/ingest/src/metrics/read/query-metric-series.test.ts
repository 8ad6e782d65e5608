import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  callOf,
  columnsOf,
  pairsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

async function runWith(...points: TestPoint[]): Promise<string> {
  const runId = await ingest.newRun(tenant);
  for (let at = 0; at < points.length; at += 500) {
    const columns = columnsOf(...points.slice(at, at + 500));
    await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
  }
  return runId;
}

const line = (count: number): TestPoint[] =>
  Array.from({ length: count }, (_, step) => [step, { loss: step % 7 }] as const);

type Query = {
  runIds: string[];
  keys?: string[];
  limit?: number;
  startStep?: number;
  endStep?: number;
  buckets?: number;
};
const query = (asked: Query) =>
  ingest.read.queryMetricSeries({ keys: ["loss"], limit: 1000, ...asked }, callOf(tenant));

describe("series", () => {
  test("lie between the given steps, both included", async () => {
    const runId = await runWith(...line(9));
    const { series } = await query({ runIds: [runId], startStep: 2, endStep: 4 });
    expect([...series[0]!.points!.steps]).toEqual([2, 3, 4]);
  });

  test("of many runs are in one answer", async () => {
    const runIds = await Promise.all(Array.from({ length: 12 }, (_, i) => runWith([i, { loss: i }])));
    const { series } = await query({ runIds });
    expect(series.map(({ points }) => pairsOf(points))).toEqual(runIds.map((_, i) => [[i, i]]));
  });
});

describe("series of several keys", () => {
  test("are those of the first key in the order of the runs, then those of the next", async () => {
    const a = await runWith([0, { loss: 1, acc: 2 }], [1, { acc: 3 }]);
    const b = await runWith([5, { acc: 4 }]);
    const { series } = await query({ runIds: [b, a, b], keys: ["acc", "none", "loss"] });
    const found = series.map(({ runId, points }) => [runId === a ? "a" : "b", ...pairsOf(points)]);
    expect(found.slice(0, 3)).toEqual([["b", [5, 4]], ["a", [0, 2], [1, 3]], ["b"]]);
    expect(found.slice(3)).toEqual([["b"], ["a"], ["b"], ["b"], ["a", [0, 1]], ["b"]]);
  });

  test("are what each key alone has, sampled and not", async () => {
    const runId = await runWith(...line(40), ...Array.from({ length: 9 }, (_, i) => [i, { acc: i }] as const));
    for (const more of [{ limit: 5 }, { buckets: 3 }, { startStep: 2, endStep: 6 }]) {
      const { series } = await query({ runIds: [runId], keys: ["loss", "acc"], ...more });
      const alone = await Promise.all(["loss", "acc"].map((key) => query({ runIds: [runId], keys: [key], ...more })));
      expect(series).toEqual(alone.flatMap((one) => one.series));
    }
  });

  test("share the bound on the whole answer", async () => {
    const runId = await runWith(...line(3));
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    const runIds = Array.from({ length: 40 }, () => runId);
    expect(await query({ runIds, keys, buckets: 512 })).toMatchObject({ effectiveLimit: 60, effectiveBuckets: 15 });
  });

  test("have other tags than those of other keys, or of the same in another order", async () => {
    const runIds = [await runWith([0, { loss: 1, acc: 2 }])];
    const asked = [["loss"], ["acc"], ["loss", "acc"], ["acc", "loss"]];
    const tags = await Promise.all(asked.map(async (keys) => (await query({ runIds, keys })).tag));
    expect(new Set(tags).size).toBe(asked.length);
  });

  test.each([
    ["none", []],
    ["51 keys", Array.from({ length: 51 }, (_, i) => `k${i}`)],
    ["a key twice", ["a", "b", "a"]],
  ])("are refused for %s", async (_, keys) => {
    const runIds = [await ingest.newRun(tenant)];
    await expect(query({ runIds, keys })).rejects.toMatchObject({ reason: "bad_request", field: "keys" });
  });
});

describe("series with buckets", () => {
  test("are neither sampled nor whole where a range of steps is given", async () => {
    const runId = await runWith(...line(50));
    const { series, effectiveBuckets } = await query({ runIds: [runId], buckets: 2, endStep: 40, limit: 10 });
    expect(series[0]).toMatchObject({ sampled: false, truncated: true });
    expect(series[0]!.points!.steps).toHaveLength(10);
    expect(effectiveBuckets).toBe(2);
  });

  test("do not count points of other keys", async () => {
    const runId = await runWith(...line(8), ...Array.from({ length: 40 }, (_, i) => [i, { acc: i }] as const));
    expect((await query({ runIds: [runId], buckets: 2 })).series[0]).toMatchObject({ sampled: false });
  });
});

test.each([
  ["does not exist", () => randomUUID()],
  ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
  [
    "lies in a project that the key does not see",
    async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId)),
  ],
])("one run that %s makes the whole call not found", async (_, idOf) => {
  const runIds = [await ingest.newRun(tenant), await idOf()];
  const call = callOf(tenant, tenant.projectId);
  await expect(ingest.read.queryMetricSeries({ keys: ["loss"], runIds, limit: 10 }, call)).rejects.toMatchObject({
    reason: "not_found",
    message: "run not found",
  });
});
