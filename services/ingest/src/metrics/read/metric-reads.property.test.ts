import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import type { PointColumns } from "@tidemark/proto/ingest/v1/ingest";
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
import type { Points } from "./first-points.rules.ts";
import { createRunModel, type RunModel, type ShownPoint } from "./metric-model.fixture.ts";
import { POINT_BOUNDS, readPoints, type PointBounds } from "./metric-points.sql.ts";
import type { StepRange } from "./metric-rows.rules.ts";
import { readSeries } from "./read-series.ts";
import { shareSeriesBudget } from "./series-answer.rules.ts";

// One file, because both reads are compared with one model.

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

const KEYS = ["loss", "acc", "\uFF5E", "\u{1F600}"];
const RUNS = 3;
const wideKeys = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i % 7}/${i}`);

type Range = { startStep: number | undefined; endStep: number | undefined };
type Command =
  | { kind: "write"; run: number; points: TestPoint[] }
  | { kind: "compact" }
  | {
      kind: "list";
      run: number;
      key: string | undefined;
      range: Range;
      limit: number;
      compacting: boolean;
      bounds: PointBounds;
    }
  | {
      kind: "series";
      runs: number[];
      keys: string[];
      range: Range;
      limit: number;
      buckets: number | undefined;
      compacting: boolean;
    };

const anyStep = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40) },
  { weight: 2, arbitrary: fc.nat(160).map((quarters) => quarters / 4) },
  { weight: 1, arbitrary: fc.constantFrom(0, 5e-324, 1e-300, 2 ** 53, 1e300, Number.MAX_VALUE) },
);
const anyValue = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2, max: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(-0, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE) },
  { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
const anyTime = fc.option(fc.integer({ min: 1_767_000_000_000_000, max: 1_767_000_009_000_000 }), { nil: undefined });
const anyMetrics = fc.dictionary(fc.constantFrom(...KEYS), anyValue, { minKeys: 1 });
const anyPoint: fc.Arbitrary<TestPoint> = fc.tuple(anyStep, anyMetrics, anyTime);
/** A stretch of a training: ascending steps, which begin anywhere, so that they often go back. */
const anyStretch: fc.Arbitrary<TestPoint[]> = fc
  .record({ first: fc.nat(60), count: fc.integer({ min: 5, max: 60 }), seed: fc.nat(1000), nanFrom: fc.nat(80) })
  .map(({ first, count, seed, nanFrom }) =>
    Array.from(
      { length: count },
      (_, i) => [first + i, { loss: i < nanFrom ? ((seed + i * 7) % 11) - 5 : NaN, acc: i }] as const,
    ),
  );
const anyWide: fc.Arbitrary<TestPoint[]> = fc
  .record({ keys: fc.constantFrom(33, 40, 300), step: anyStep, value: anyValue })
  .map(({ keys, step, value }) => [
    [step, Object.fromEntries(wideKeys(keys).map((key, i) => [key, i === 5 ? value : i]))],
  ]);
const anyRun = fc.nat(RUNS - 1);
const anyRange: fc.Arbitrary<Range> = fc
  .tuple(fc.option(anyStep, { nil: undefined }), fc.option(anyStep, { nil: undefined }))
  .map(([a, b]) =>
    a !== undefined && b !== undefined && a > b ? { startStep: b, endStep: a } : { startStep: a, endStep: b },
  );
const anyLimit = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5000 }));
/** The smallest possible pages. */
const anyBounds: fc.Arbitrary<PointBounds> = fc.record({
  bytes: fc.constantFrom(1, 300),
  keys: fc.integer({ min: 1, max: 6 }),
  values: fc.integer({ min: 1, max: 60 }),
  shortPoints: fc.integer({ min: 1, max: 20 }),
});
const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      run: anyRun,
      points: fc.oneof(
        { weight: 3, arbitrary: fc.array(anyPoint, { minLength: 1, maxLength: 12 }) },
        { weight: 3, arbitrary: anyStretch },
        { weight: 1, arbitrary: anyWide },
      ),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ kind: "compact" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      run: anyRun,
      key: fc.option(fc.constantFrom(...KEYS, "w5/5", "w0/294", "absent"), { nil: undefined }),
      range: fc.oneof(fc.constant({ startStep: undefined, endStep: undefined }), anyRange),
      limit: anyLimit,
      compacting: fc.boolean(),
      bounds: anyBounds,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("series" as const),
      runs: fc.array(anyRun, { minLength: 1, maxLength: 5 }),
      keys: fc.oneof(
        fc.constantFrom("loss", "acc", "w5/5").map((key) => [key]),
        fc.uniqueArray(fc.constantFrom(...KEYS, "w5/5", "w6/6", "w4/39", "w0/294", "absent"), { minLength: 1 }),
      ),
      range: fc.oneof(
        { weight: 3, arbitrary: fc.constant({ startStep: undefined, endStep: undefined }) },
        { weight: 1, arbitrary: anyRange },
      ),
      limit: anyLimit,
      buckets: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
      compacting: fc.boolean(),
    }),
  },
);

const newestReceived = testSql(
  `SELECT received_us AS "receivedUs" FROM ingest.metric_segments WHERE run_id = $1 ORDER BY id DESC LIMIT 1`,
);

const shownOf = (key: string, points: Points | PointColumns): ShownPoint[] =>
  Array.from(points.steps, (step, i) => [
    key,
    step,
    points.values[i]!,
    points.createdUs[i]!,
    points.timestampsUs[i] ?? Number.NaN,
  ]);

/** A database in which compaction runs between the statements of a read transaction. */
function restless(db: Db): Db {
  return {
    ...db,
    readTenant: (orgId, work, options) =>
      db.readTenant(
        orgId,
        (tx) =>
          work({
            ...tx,
            each: async (statement, values, take) => {
              await tx.each(statement, values, take);
              await compaction.round();
            },
          }),
        options,
      ),
  };
}

const forgetMarkers = testSql("DELETE FROM ingest.dirty_markers");
const forgetWork = testSql("DELETE FROM ingest.compaction_work");

/** Runs and their models. */
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
    for (const [key, value] of Object.entries(metrics)) {
      models[run]!.points.push({ key, step, value, receivedUs, timestampUs });
    }
  }
}

type ListQuery = Omit<Extract<Command, { kind: "list" }>, "kind" | "compacting">;
type SeriesQuery = Omit<Extract<Command, { kind: "series" }>, "kind" | "compacting">;

async function checkList({ runIds, models }: World, { run, key, range, limit, bounds }: ListQuery): Promise<void> {
  const request = { runId: runIds[run]!, ...range, limit, ...(key === undefined ? {} : { key }) };
  const answer = await ingest.read.listMetricPoints(request, callOf(tenant));
  const found = answer.keys.flatMap((part) => shownOf(part.key, part.points!));
  const expected = models[run]!.list({ key, ...range }, limit);
  expect({ points: found, truncated: answer.truncated }).toEqual(expected);
  expect(answer.keys.every(({ points }) => points!.steps.length > 0)).toBe(true);
  const again = await ingest.read.listMetricPoints({ ...request, knownTags: ["x", answer.tag] }, callOf(tenant));
  expect(again).toMatchObject({ tag: answer.tag, notModified: true, keys: [] });

  // The same in small pages, while blocks are joined between them.
  if (key !== undefined) return;
  const paged = await readPoints(
    restless(ingest.db),
    { orgId: tenant.orgId, runId: runIds[run]!, range },
    limit,
    bounds,
  );
  const inPages = paged.keys.flatMap((part) => shownOf(part.key, part.points));
  expect({ points: inPages, truncated: paged.truncated }).toEqual(expected);
}

async function checkSeries({ runIds, models }: World, query: SeriesQuery): Promise<void> {
  const { runs, keys, range, limit, buckets } = query;
  const request = {
    runIds: runs.map((run) => runIds[run]!),
    keys,
    limit,
    ...range,
    ...(buckets === undefined ? {} : { buckets }),
  };
  const answer = await ingest.read.queryMetricSeries(request, callOf(tenant));
  const budget = shareSeriesBudget(keys.length * runs.length, limit, buckets);
  const expected = keys.map((key) =>
    runs.map((run, i) =>
      runs.indexOf(run) === i
        ? models[run]!.series(key, range, budget)
        : { points: [], truncated: false, sampled: false },
    ),
  );
  const shown = answer.series.map(({ points, truncated, sampled }, i) => {
    const key = keys[Math.floor(i / runs.length)]!;
    return { points: shownOf(key, points!), truncated, sampled };
  });
  expect(shown).toEqual(expected.flat());
  expect(answer.series.map(({ runId }) => runId)).toEqual(keys.flatMap(() => request.runIds));
  const again = await ingest.read.queryMetricSeries({ ...request, knownTags: [answer.tag] }, callOf(tenant));
  expect(again).toMatchObject({ tag: answer.tag, notModified: true, series: [] });

  const distinct = [...new Set(runs)];
  const unranged: StepRange = { startStep: undefined, endStep: undefined };
  const paged = await readSeries(
    restless(ingest.db),
    {
      orgId: tenant.orgId,
      runIds: distinct.map((run) => runIds[run]!),
      keys,
      range: unranged,
      limit: buckets === undefined ? limit : budget.unsampledMax,
      buckets: budget.buckets,
    },
    { bytes: 1, series: 1 },
  );
  const inPages = paged.map(({ series }) =>
    series.map(({ points, truncated, sampled }, k) => ({ points: shownOf(keys[k]!, points), truncated, sampled })),
  );
  expect(inPages).toEqual(
    distinct.map((run) => keys.map((key) => models[run]!.series(key, unranged, { ...budget, limit }))),
  );
}

async function play(world: World, commands: readonly Command[]): Promise<void> {
  for (const command of commands) {
    if (command.kind === "write") await write(world, command.run, command.points);
    else if (command.kind === "compact") await compaction.round();
    else {
      const check = command.kind === "list" ? checkList(world, command) : checkSeries(world, command);
      await Promise.all([check, command.compacting ? compaction.round() : undefined]);
    }
  }
}

const tiers = testSql(`SELECT (SELECT count(*) FROM ingest.metric_segments WHERE run_id = $1) AS rows,
          (SELECT count(*) FROM ingest.metric_blocks WHERE run_id = $1) AS blocks,
          (SELECT array_agg(DISTINCT width ORDER BY width) FROM ingest.metric_blocks WHERE run_id = $1)::text AS widths`);

describe("reads of metrics", () => {
  test("match a plain list of all points, after any writes and compactions", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 4, maxLength: 30 }), async (commands) => {
        await play(await newWorld(), commands);
      }),
      { numRuns: 80 },
    );
  });

  test("say it of runs whose points all are in blocks of every width at last", async () => {
    const world = await newWorld();
    const nowhere = { startStep: undefined, endStep: undefined };
    const stretch = (first: number, count: number): TestPoint[] =>
      Array.from({ length: count }, (_, i) => [first + i, { loss: (i * 7) % 11, acc: i, rare: i }] as const);
    for (let round = 0; round < 6; round++) {
      await write(world, 0, [[round, Object.fromEntries(wideKeys(300).map((key, i) => [key, i * round]))]]);
      await write(world, 0, stretch(round * 30, 40));
      await compaction.round();
    }
    const found = await ingest.owner.one<{ rows: number; blocks: number; widths: string }>(tiers, [world.runIds[0]]);
    expect(found).toMatchObject({ rows: 0 });
    expect(found!.widths).toContain("16");
    expect(found!.blocks).toBeGreaterThan(20);
    for (const limit of [1, 7, 40, 1000, 5000]) {
      const bounds = { ...POINT_BOUNDS, bytes: 1 };
      await checkList(world, { run: 0, key: undefined, range: nowhere, limit, bounds });
      await checkList(world, { run: 0, key: "loss", range: nowhere, limit, bounds });
      await checkList(world, { run: 0, key: undefined, range: { startStep: 100, endStep: undefined }, limit, bounds });
      await checkSeries(world, { runs: [0, 1], keys: ["loss"], range: nowhere, limit, buckets: undefined });
    }
    for (const buckets of [1, 3, 10, 50]) {
      await checkSeries(world, { runs: [0], keys: ["loss"], range: nowhere, limit: 1000, buckets });
      const many = ["rare", "loss", "w5/5", "w0/294", "acc", "absent"];
      await checkSeries(world, { runs: [1, 0], keys: many, range: nowhere, limit: 1000, buckets });
    }
  });
});
