import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isMinimizeKey } from "@tidemark/values/metric-direction";

import fc from "fast-check";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";

type StoredAggregate = {
  key: string;
  count: number;
  min: number;
  max: number;
  mean: number;
  variance: number | null;
  latest: number;
  latest_step: number;
  best: number;
  best_step: number;
  first_step: number;
  last_step: number;
};

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const listAggregates =
  testSql(`SELECT key, count, min, max, mean, variance, latest, latest_step, best, best_step, first_step, last_step
   FROM ingest.metric_aggregates_v1 WHERE org_id = $1 AND run_id = $2 ORDER BY key`);
const aggregatesOf = (runId: string) => ingest.owner.rows<StoredAggregate>(listAggregates, [tenant.orgId, runId]);

const write = (runId: string, ...points: TestPoint[]) =>
  ingest.write.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));

/** The aggregates of points in the order of arrival, by their definitions. */
function naive(key: string, points: readonly (readonly [step: number, value: number])[]): StoredAggregate {
  const steps = points.map(([step]) => step);
  const values = points.map(([, value]) => value);
  const last = Math.max(...steps);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const best = isMinimizeKey(key) ? Math.min(...values) : Math.max(...values);
  return {
    key,
    count: values.length,
    min: Math.min(...values),
    max: Math.max(...values),
    mean,
    variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length,
    latest: points.findLast(([step]) => step === last)![1],
    latest_step: last,
    best,
    best_step: Math.min(...points.filter(([, value]) => value === best).map(([step]) => step)),
    first_step: Math.min(...steps),
    last_step: last,
  };
}

/** Mean and variance depend on the order of additions, by a share of the largest numbers added. */
function expectAggregate(aggregate: StoredAggregate, wanted: StoredAggregate): void {
  const largest = Math.max(1, Math.abs(wanted.min), Math.abs(wanted.max));
  expect(aggregate).toEqual({ ...wanted, mean: aggregate.mean, variance: aggregate.variance });
  expect(Math.abs(aggregate.mean - wanted.mean)).toBeLessThan(1e-12 * largest);
  expect(Math.abs(aggregate.variance! - wanted.variance!)).toBeLessThan(1e-12 * largest ** 2);
}

describe("the key aggregates of a run", () => {
  test("take the later arrival as latest where steps are equal, also when processes take turns", async () => {
    const runId = await ingest.newRun(tenant);
    const writers = [ingest.write, ingest.writer()];
    for (const [i, value] of [20, 10, 30, 5].entries()) {
      await writers[i % 2]!.appendMetrics({ runId, columns: columnsOf([1, { loss: value }]) }, callOf(tenant));
    }
    expect(await aggregatesOf(runId)).toMatchObject([{ latest: 5, min: 5, max: 30, count: 4 }]);
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 10 }, callOf(tenant));
    expect([...keys[0]!.points!.values]).toEqual([20, 10, 30, 5]);
  });

  test("agree with a naive count after many concurrent writers with overlapping keys", async () => {
    const value = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
    const metrics = fc.dictionary(fc.constantFrom("loss", "acc", "lr", "ключ", "é"), value, { minKeys: 1 });
    const point = fc.tuple(fc.integer({ min: 0, max: 6 }), metrics);
    const request = fc.array(point, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 2, maxLength: 24 }), async (requests) => {
        const runId = await ingest.newRun(tenant);
        await Promise.all(requests.map((points) => write(runId, ...points)));
        const aggregates = await aggregatesOf(runId);
        const { keys } = await ingest.read.listMetricPoints({ runId, limit: 5000 }, callOf(tenant));
        const written = requests.flat().flatMap(([, metrics]) => Object.keys(metrics));
        expect(aggregates.map(({ key, count }) => [key, count])).toEqual(
          [...new Set(written)]
            .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
            .map((key) => [key, written.filter((one) => one === key).length]),
        );
        // Reads return points by step and arrival, which is all that the definitions need about time.
        for (const [i, { key, points }] of keys.entries()) {
          expectAggregate(
            aggregates[i]!,
            naive(
              key,
              Array.from(points!.steps, (step, j) => [step, points!.values[j]!] as const),
            ),
          );
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("numbers at the ends of a double", () => {
  const MAX = Number.MAX_VALUE;
  const MIN = Number.MIN_VALUE;

  test.each([
    ["the largest of both signs", [MAX, -MAX]],
    ["the largest, again and again", [MAX, MAX, MAX]],
    ["the largest and nearly the largest", [MAX, MAX * (1 - 2 ** -53), MAX, MAX, MAX, MAX * (1 - 2 ** -53), MAX]],
    ["the smallest", [MIN, -MIN, MIN, 0]],
    ["one far from the others", [1, 2, 1e200, 3]],
    ["small ones and a large one", [1e-300, MAX, 1e-310, MIN]],
    ["squares that are too small", [1e-170, 2e-170, 3e-170]],
    ["squares that are too large", [1e170, 2e170, 3e170]],
  ])("are stored in one request or in many, and never fail a write: %s", async (_, values) => {
    const single = await ingest.newRun(tenant);
    await write(single, ...values.map((value, step) => [step, { x: value }] as const));
    const many = await ingest.newRun(tenant);
    for (const [step, value] of values.entries()) await write(many, [step, { x: value }]);
    for (const runId of [single, many]) {
      const [aggregate] = await aggregatesOf(runId);
      expect(aggregate).toMatchObject({ count: values.length, min: Math.min(...values), max: Math.max(...values) });
      expect(Number.isFinite(aggregate!.mean)).toBe(true);
      expect(aggregate!.variance === null || aggregate!.variance >= 0).toBe(true);
    }
  });

  test("have a variance where a double can hold it, and none where it cannot", async () => {
    const runId = await ingest.newRun(tenant);
    for (const step of [0, 1])
      await write(runId, [step, { constant: 1e200, spread: step * 1e200, small: step * 1e-100 }]);
    const aggregates = await aggregatesOf(runId);
    expect(aggregates.map(({ key, variance }) => [key, variance])).toEqual([
      ["constant", 0],
      ["small", expect.closeTo(2.5e-201, 205)],
      ["spread", null],
    ]);
  });
});

const listManyAggregates =
  testSql(`SELECT key, count, min, max, mean, latest, best, first_step, last_step FROM ingest.metric_aggregates_v1
   WHERE org_id = $1 AND run_id = $2 ORDER BY key`);

// A page has 32 keys, and the view finds the first 4,096 keys in a different way from the rest.
test.each([1, 31, 32, 33, 64, 4095, 4096, 4097, 4130])(
  "the view gives each of %i keys of a run its own aggregate",
  async (count) => {
    const runId = await ingest.newRun(tenant);
    const metrics = (from: number, to: number) =>
      Object.fromEntries(
        Array.from({ length: to - from }, (_, i) => [`k${String(from + i).padStart(5, "0")}`, from + i]),
      );
    for (let from = 0; from < count; from += 1000) {
      const columns = columnsOf([7, metrics(from, Math.min(count, from + 1000))]);
      await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
    }
    expect(await ingest.owner.rows(listManyAggregates, [tenant.orgId, runId])).toEqual(
      Object.entries(metrics(0, count)).map(([key, value]) => ({
        key,
        count: 1,
        min: value,
        max: value,
        mean: value,
        latest: value,
        best: value,
        first_step: 7,
        last_step: 7,
      })),
    );
  },
);

// PostgreSQL requires this of an update that needs no new index entry (documentation, Heap-Only Tuples). Whether a given update is heap-only depends on
// what else the server does, so the test checks these conditions and not the outcome.
test("updates of aggregates can be heap-only: no index covers what changes, and half of each page stays free", async () => {
  const covered = testSql(`SELECT DISTINCT a.attname AS name
     FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indrelid = ANY ('{ingest.metric_aggregate_pages,ingest.metric_runs}'::regclass[]) ORDER BY 1`);
  const indexed = await ingest.owner.rows<{ name: string }>(covered, []);
  expect(indexed.map(({ name }) => name)).toEqual(["org_id", "page", "run_id"]);
  const options = testSql(`SELECT c.reloptions AS options, a.attstorage AS storage
     FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'stats'
     WHERE c.oid = ANY ('{ingest.metric_aggregate_pages,ingest.metric_runs}'::regclass[]) ORDER BY c.relname`);
  // p: never compressed, and never moved out of the row.
  expect(await ingest.owner.rows(options, [])).toEqual([
    { options: ["fillfactor=50"], storage: "p" },
    { options: ["fillfactor=50"], storage: null },
  ]);
});
