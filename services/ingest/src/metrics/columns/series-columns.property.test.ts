import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import fc from "fast-check";
import type { Compaction } from "../../compaction/work-loop.ts";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";
import { createRunModel, type RunModel } from "../read/metric-model.fixture.ts";
import { pointsOf, showPoints, type ModelQuery, type ShownColumns } from "./columns-model.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let compaction: Compaction;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  // Blocks of about eight points, so that short histories have many, of every width.
  compaction = ingest.compactor(undefined, { pointsMax: 8, valuesMax: 128, childValuesMin: 16 });
});
afterAll(() => ingest.close());

const KEYS = ["loss", "acc", "w5/5", "absent"];
const RUNS = 2;
const wideKeys = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i % 7}/${i}`);

const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.nat(60) },
  { weight: 2, arbitrary: fc.nat(160).map((quarters) => quarters / 4) },
  { weight: 1, arbitrary: fc.constantFrom(0, 5e-324, 2 ** 53, 1e300) },
);
const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2, max: 2 }) },
  { weight: 2, arbitrary: fc.double({ min: -10, max: 10, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.MAX_VALUE, -Number.MAX_VALUE, 1e-9) },
  { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
);
const anyTime = fc.option(fc.integer({ min: 1_767_000_000_000_000, max: 1_767_000_009_000_000 }), { nil: undefined });
const anyPoint: fc.Arbitrary<TestPoint> = fc.tuple(
  anyStep,
  fc.dictionary(fc.constantFrom("loss", "acc"), anyValue, { minKeys: 1 }),
  anyTime,
);
const anyStretch: fc.Arbitrary<TestPoint[]> = fc
  .record({
    first: fc.nat(60),
    count: fc.integer({ min: 5, max: 60 }),
    seed: fc.nat(1000),
    value: anyValue,
    nanFrom: fc.nat(80),
  })
  .map(({ first, count, seed, value, nanFrom }) =>
    Array.from(
      { length: count },
      (_, i) =>
        [first + i, { loss: i < nanFrom ? ((seed + i * 7) % 11) / 7 : NaN, acc: i % 5 === 0 ? value : i }] as const,
    ),
  );
const anyWide: fc.Arbitrary<TestPoint[]> = fc
  .record({ step: anyStep, value: anyValue })
  .map(({ step, value }) => [[step, Object.fromEntries(wideKeys(300).map((key, i) => [key, i === 5 ? value : i]))]]);
const anyWrite = fc.record({
  run: fc.nat(RUNS - 1),
  points: fc.oneof(
    { weight: 2, arbitrary: fc.array(anyPoint, { minLength: 1, maxLength: 12 }) },
    { weight: 4, arbitrary: anyStretch },
    { weight: 1, arbitrary: anyWide },
  ),
  compacts: fc.boolean(),
});
const anyQuery = fc
  .record({
    bounds: fc.oneof(
      fc.constant({}),
      fc.tuple(anyStep, anyStep).map(([a, b]) => ({ startStep: Math.min(a, b), endStep: Math.max(a, b) })),
      anyStep.map((startStep) => ({ startStep })),
      anyStep.map((endStep) => ({ endStep })),
      anyStep.map((afterStep) => ({ afterStep })),
    ),
    buckets: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 40 }),
    edges: fc.boolean(),
    sharedGrid: fc.boolean(),
  })
  .map(({ bounds, edges, ...query }) => ({
    startStep: undefined,
    endStep: undefined,
    afterStep: undefined,
    ...bounds,
    ...query,
    edges: edges && !("afterStep" in bounds),
  }));

const newestReceived = testSql(
  `SELECT received_us AS "receivedUs" FROM ingest.metric_segments WHERE run_id = $1 ORDER BY id DESC LIMIT 1`,
);
const forgetMarkers = testSql("DELETE FROM ingest.dirty_markers");
const forgetWork = testSql("DELETE FROM ingest.compaction_work");

type World = { readonly runIds: readonly string[]; readonly models: readonly RunModel[] };

async function newWorld(): Promise<World> {
  // The compactor would also work on the runs of all earlier histories.
  await ingest.owner.rows(forgetMarkers, []);
  await ingest.owner.rows(forgetWork, []);
  const runIds = await Promise.all(Array.from({ length: RUNS }, () => ingest.newRun(tenant)));
  return { runIds, models: runIds.map(createRunModel) };
}

async function write({ runIds, models }: World, run: number, points: readonly TestPoint[]): Promise<void> {
  await ingest.write.appendMetrics({ runId: runIds[run]!, columns: columnsOf(...points) }, callOf(tenant));
  const { receivedUs } = (await ingest.owner.one<{ receivedUs: number }>(newestReceived, [runIds[run]]))!;
  for (const [step, metrics, timestampUs = Number.NaN] of points) {
    for (const [key, value] of Object.entries(metrics))
      models[run]!.points.push({ key, step, value, receivedUs, timestampUs });
  }
}

type Query = ModelQuery & { readonly sharedGrid: boolean };

async function read({ runIds }: World, query: Query): Promise<ShownColumns[]> {
  const request = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
  const answer = await ingest.read.querySeriesColumns(
    { runIds: [...runIds], keys: KEYS, limit: query.limit, ...request },
    callOf(tenant),
  );
  return answer.series.map((series) => {
    const names = series.sampled
      ? (["step", "min", "max", "mean", "count", "first", "last"] as const)
      : (["step", "value", "time"] as const);
    const othersOf = (i: number): number[] => (series.sampled ? [series.nonFinite[i] ?? 0] : []);
    expect([0, series.step.length]).toContain(series.nonFinite.length);
    const rows = Array.from(series.step, (_, i) => [...names.map((name) => series[name][i]!), ...othersOf(i)]);
    return { sampled: series.sampled, rows };
  });
}

function expected({ models }: World, query: Query): ShownColumns[] {
  const all = KEYS.flatMap((key) => models.map((model) => pointsOf(model, key)));
  const steps = all.flat().map(({ step }) => step);
  const shared = { low: Math.min(...steps), high: Math.max(...steps) };
  return all.map((points) => {
    const own = { low: points[0]?.step ?? 0, high: points.at(-1)?.step ?? 0 };
    return showPoints(points, query, query.sharedGrid ? shared : own);
  });
}

const MEAN = 3;
/** Sums keep 2^-40 of each value, so that values below 1e-295 lose digits (`exact-sum.ts`). */
const SMALLEST = 2 ** 41 * Number.MIN_VALUE;
/** Rounding may take a mean to the next double; further where large values cancel each other out. */
const isNear = (a: number, b: number, largest: number): boolean =>
  Math.abs(a - b) <= Math.max(2 ** -51 * Math.abs(b) + 2 ** -90 * largest, SMALLEST);

function check(found: readonly ShownColumns[], wanted: readonly ShownColumns[]): void {
  const withoutMeans = (all: readonly ShownColumns[]) =>
    all.map(({ sampled, rows }) => ({
      sampled,
      rows: rows.map((row) => (sampled ? row.with(MEAN, 0) : row).map((n) => n + 0)),
    }));
  expect(withoutMeans(found)).toEqual(withoutMeans(wanted));
  found.forEach(({ sampled, rows }, at) => {
    if (!sampled) return;
    rows.forEach((row, i) => {
      const want = wanted[at]!.rows[i]!;
      const largest = Math.max(Math.abs(row[1]!), Math.abs(row[2]!));
      if (Number.isNaN(want[MEAN]) || !isNear(row[MEAN]!, want[MEAN]!, largest)) expect(row).toEqual(want);
    });
  });
}

describe("series as columns", () => {
  test("say what a plain list of all points would, before and after compaction", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyWrite, { minLength: 1, maxLength: 12 }),
        fc.array(anyQuery, { minLength: 1, maxLength: 4 }),
        async (writes, queries) => {
          const world = await newWorld();
          for (const { run, points, compacts } of writes) {
            await write(world, run, points);
            if (compacts) await compaction.round();
          }
          const before = [];
          for (const query of queries) {
            before.push(await read(world, query));
            check(before.at(-1)!, expected(world, query));
          }
          await compaction.round();
          for (const [i, query] of queries.entries()) check(await read(world, query), before[i]!);
        },
      ),
      { numRuns: 60 },
    );
  });
});
