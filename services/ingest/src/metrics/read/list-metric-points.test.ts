import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
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
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

const write = (...points: TestPoint[]) =>
  ingest.write.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));

async function list(query: { key?: string; startStep?: number; endStep?: number; limit?: number } = {}) {
  const { keys, truncated } = await ingest.read.listMetricPoints({ limit: 1000, ...query, runId }, callOf(tenant));
  return { points: Object.fromEntries(keys.map(({ key, points }) => [key, pairsOf(points)])), truncated };
}

describe("the points of a run", () => {
  test("come by the bytes of the key, then step, then arrival", async () => {
    await write([3, { "\u{1F600}": 1, a: 1 }], [1, { "\uFF5E": 2, a: 2 }]);
    await write([1, { a: 3, B: 4 }]);
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 100 }, callOf(tenant));
    expect(keys.map(({ key }) => key)).toEqual(["B", "a", "\uFF5E", "\u{1F600}"]);
    expect(pairsOf(keys[1]!.points)).toEqual([
      [1, 2],
      [1, 3],
      [3, 1],
    ]);
  });

  test("are those of one key when it is named", async () => {
    await write([0, { a: 1, b: 2 }], [1, { b: 3 }]);
    expect(await list({ key: "b" })).toEqual({
      points: {
        b: [
          [0, 2],
          [1, 3],
        ],
      },
      truncated: false,
    });
    expect(await list({ key: "a" })).toEqual({ points: { a: [[0, 1]] }, truncated: false });
  });

  test("are none for a key that the run does not have", async () => {
    await write([0, { a: 1 }]);
    expect(await list({ key: "c" })).toEqual({ points: {}, truncated: false });
  });

  test("are none for a run without points", async () => {
    expect(await list()).toEqual({ points: {}, truncated: false });
  });

  test("lie between the given steps, both included", async () => {
    await write([0, { a: 0 }], [1.5, { a: 1 }], [2, { a: 2 }]);
    await write([3, { a: 3 }], [9, { b: 9 }]);
    expect((await list({ startStep: 1.5, endStep: 3 })).points).toEqual({
      a: [
        [1.5, 1],
        [2, 2],
        [3, 3],
      ],
    });
    expect((await list({ key: "a", startStep: 2.5 })).points).toEqual({ a: [[3, 3]] });
    expect((await list({ key: "a", endStep: 0 })).points).toEqual({ a: [[0, 0]] });
  });

  test("are the first of all keys together when there are more than the limit", async () => {
    await write([2, { a: 2, b: 2, c: 2 }], [1, { a: 1, b: 1, c: 1 }]);
    expect(await list({ limit: 3 })).toEqual({
      points: {
        a: [
          [1, 1],
          [2, 2],
        ],
        b: [[1, 1]],
      },
      truncated: true,
    });
    expect((await list({ limit: 2 })).points).toEqual({
      a: [
        [1, 1],
        [2, 2],
      ],
    });
    expect((await list({ limit: 6 })).truncated).toBe(false);
    expect((await list({ limit: 5 })).truncated).toBe(true);
  });

  test("that arrive with falling steps are cut at the highest ones", async () => {
    for (let step = 20; step >= 0; step--) await write([step, { a: step }]);
    expect(await list({ key: "a", limit: 3 })).toEqual({
      points: {
        a: [
          [0, 0],
          [1, 1],
          [2, 2],
        ],
      },
      truncated: true,
    });
  });

  test("carry the client's time where it sent one, to the microsecond, and the server's", async () => {
    const before = Date.now() * 1000;
    await write([0, { a: 1 }, 1_700_000_000_123_456], [1, { a: 2 }]);
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 10 }, callOf(tenant));
    const { timestampsUs, createdUs } = keys[0]!.points!;
    expect([...timestampsUs]).toEqual([1_700_000_000_123_456, Number.NaN]);
    // The clock of the database may differ a little from ours.
    expect(Math.abs(createdUs[0]! - before)).toBeLessThan(60_000_000);
    expect(createdUs[1]).toBe(createdUs[0]);
  });

  test("have no column of times when the client sent none", async () => {
    await write([0, { a: 1 }]);
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 10 }, callOf(tenant));
    expect(keys[0]!.points!.timestampsUs).toHaveLength(0);
  });
});

test.each([
  ["does not exist", () => randomUUID()],
  ["has an id that is not a UUID", () => "nothing"],
  ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
  [
    "lies in a project that the key does not see",
    async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId)),
  ],
])("a run that %s is not found", async (_, idOf) => {
  const hidden = await idOf();
  for (const query of [{ limit: 1 }, { queryFault: { text: "no", field: "limit" } }]) {
    await expect(
      ingest.read.listMetricPoints({ runId: hidden, ...query }, callOf(tenant, tenant.projectId)),
    ).rejects.toMatchObject({ reason: "not_found", message: "run not found" });
  }
});

test("a fault of the query is refused once the run is found", async () => {
  const queryFault = { text: "limit must be a whole number", field: "limit" };
  await expect(ingest.read.listMetricPoints({ runId, queryFault }, callOf(tenant))).rejects.toMatchObject({
    reason: "bad_request",
    message: queryFault.text,
    field: "limit",
  });
});
