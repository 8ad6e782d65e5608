import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import type { Compaction } from "../../compaction/work-loop.ts";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";
import { POINT_BOUNDS, listPointRows, readPoints, type PointCursor } from "./metric-points.sql.ts";
import type { PointRow, SeriesRow, StepRange } from "./metric-rows.rules.ts";
import { listMetricVersions, listSeriesRows, seriesBegin, type SeriesQuery } from "./metric-series.sql.ts";
import { readSeries } from "./read-series.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let compaction: Compaction;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  compaction = ingest.compactor();
});
afterAll(() => ingest.close());

const MIB = 2 ** 20;
const everywhere: StepRange = { startStep: undefined, endStep: undefined };
const fromBegin: PointCursor = { key: "", tier: -1, seq: -1, firstKey: -1 };

async function write(runId: string, points: readonly TestPoint[]): Promise<void> {
  for (let at = 0; at < points.length; at += 500) {
    await ingest.write.appendMetrics({ runId, columns: columnsOf(...points.slice(at, at + 500)) }, callOf(tenant));
  }
}

/** Creates a run of two keys at `steps` steps from 0 on, in blocks of 4,096 points, and then in `segments` landing segments. */
async function longRun(steps: number, segments = 0): Promise<string> {
  const runId = await ingest.newRun(tenant);
  const point = (step: number): TestPoint => [step, { loss: Math.sin(step), acc: step }];
  await write(
    runId,
    Array.from({ length: steps }, (_, step) => point(step)),
  );
  await compaction.round();
  for (let i = 0; i < segments; i++) await write(runId, [point(steps + i)]);
  return runId;
}

const seriesOf = async (query: Partial<SeriesQuery> & { runIds: string[] }, bytesMax = 64 * MIB) => {
  const asked = { orgId: tenant.orgId, keys: ["loss"], range: everywhere, limit: 1000, buckets: undefined, ...query };
  const rows: SeriesRow[] = [];
  const next = await listSeriesRows(ingest.db, asked, seriesBegin, bytesMax, (row) => rows.push(row));
  return { kinds: rows.map(({ kind }) => kind), rows, next };
};
const pointsOf = async (runId: string, pointsMax: number, range = everywhere, from = fromBegin) => {
  const asked = { orgId: tenant.orgId, runId, range };
  const rows: PointRow[] = [];
  const bounds = { ...POINT_BOUNDS, bytes: 64 * MIB };
  const end = await listPointRows(ingest.db, asked, pointsMax, from, bounds, (row) => rows.push(row));
  return { ...end, rows, kinds: rows.map(({ kind }) => kind) };
};

describe("of a long run", () => {
  let runId: string;
  beforeAll(async () => {
    runId = await longRun(20_000, 2);
  });

  test("as many blocks are read as can hold the first points, and no landing segments behind them", async () => {
    expect((await seriesOf({ runIds: [runId] })).kinds).toEqual(["run", "chunk"]);
    expect((await seriesOf({ runIds: [runId], limit: 5000 })).kinds).toEqual(["run", "chunk", "chunk"]);
    const { kinds } = await seriesOf({ runIds: [runId], limit: 24_999 });
    expect(kinds).toEqual(["run", ...Array<string>(5).fill("chunk"), "segment", "segment"]);
  });

  test("blocks and landing segments outside the range are not read", async () => {
    const range = { startStep: 19_999, endStep: 20_000 };
    expect((await seriesOf({ runIds: [runId], range })).kinds).toEqual(["run", "chunk", "segment"]);
    expect((await seriesOf({ runIds: [runId], range: { startStep: 1e6, endStep: undefined } })).kinds).toEqual(["run"]);
  });

  test("a sample takes the statistics of chunks that lie in one bucket, and no times", async () => {
    const { kinds, rows } = await seriesOf({ runIds: [runId], limit: 8, buckets: 2 });
    expect(kinds.filter((kind) => kind === "statistics")).toHaveLength(4);
    expect(rows.filter((row) => row.kind === "chunk")).toMatchObject([{ axis: { times: null } }]);
    const many = await seriesOf({ runIds: [runId], limit: 4000, buckets: 1000 });
    expect(many.kinds.filter((kind) => kind === "statistics")).toHaveLength(0);
  });

  test("keys that share blocks share their steps and times", async () => {
    const { rows } = await seriesOf({ runIds: [runId], keys: ["loss", "none", "acc"], limit: 5000 });
    const chunks = rows.filter((row) => row.kind === "chunk");
    const firstOfBlock = ["axis", null];
    expect(chunks.map(({ axis }) => (axis === null ? null : "axis"))).toEqual([...firstOfBlock, ...firstOfBlock]);
    expect(new Set(chunks.map(({ place }) => place))).toEqual(new Set([0, 2]));
  });

  test("the first key has enough points, so the second is not looked at", async () => {
    const { kinds, rows, keysAfter } = await pointsOf(runId, 1001);
    expect(kinds).toEqual(["run", "key", "chunk"]);
    expect(rows[1]).toMatchObject({ key: "acc" });
    expect(keysAfter).toBeUndefined();
  });

  test("a key whose points in the range cannot be told before is followed by the next", async () => {
    const range = { startStep: 19_000, endStep: undefined };
    const { rows, keysAfter } = await pointsOf(runId, 5001, range);
    expect(rows[1]).toMatchObject({ key: "acc" });
    expect(keysAfter).toBe("acc");
    const all = await readPoints(ingest.db, { orgId: tenant.orgId, runId, range }, 5000);
    expect(all.truncated).toBe(false);
    expect(all.keys.map(({ key, points }) => [key, points.steps.length])).toEqual([
      ["acc", 1002],
      ["loss", 1002],
    ]);
  });

  test("a read in small pages sees what one in a large one does", async () => {
    const query = { orgId: tenant.orgId, runIds: [runId], keys: ["loss"], range: everywhere };
    for (const more of [
      { limit: 24_999, buckets: undefined },
      { limit: 40, buckets: 10 },
    ]) {
      const whole = await readSeries(ingest.db, { ...query, ...more });
      for (const pageBytes of [1, 40_000]) {
        expect(await readSeries(ingest.db, { ...query, ...more }, { bytes: pageBytes, series: 1 })).toEqual(whole);
      }
    }
    const listed = await readPoints(ingest.db, { orgId: tenant.orgId, runId, range: everywhere }, 30_000);
    expect(
      await readPoints(ingest.db, { orgId: tenant.orgId, runId, range: everywhere }, 30_000, {
        ...POINT_BOUNDS,
        bytes: 1,
      }),
    ).toEqual(listed);
    expect(listed.keys.map(({ points }) => points.steps.length)).toEqual([20_002, 9_998]);
  });
});

describe("of a run with more keys than are read together", () => {
  let runId: string;
  const keyOf = (n: number): string => `k${String(n).padStart(5, "0")}`;
  beforeAll(async () => {
    runId = await ingest.newRun(tenant);
    for (const step of [0, 10]) {
      for (let first = 0; first < 9000; first += 1000) {
        const metrics = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [keyOf(first + i), first + i]));
        await write(runId, [[step, metrics]]);
      }
    }
    await compaction.round();
    await write(runId, [[20, { [keyOf(0)]: 1, [keyOf(8999)]: 2 }]]);
  });

  test("the first page reads the first keys only, those of one block together", async () => {
    const { kinds, rows, keysAfter } = await pointsOf(runId, 101);
    expect(kinds.filter((kind) => kind === "key")).toHaveLength(50);
    expect(kinds.filter((kind) => kind === "chunk")).toHaveLength(0);
    expect(kinds.filter((kind) => kind === "block").length).toBeLessThan(20);
    expect(kinds.at(-1)).toBe("segment");
    expect(rows.every((row) => row.kind !== "block" || row.part.sections.length < 8192)).toBe(true);
    expect(keysAfter).toBeUndefined();
  });

  test("keys are read on where those before have nothing in the range", async () => {
    const nowhere = { startStep: 3, endStep: 7 };
    const first = await pointsOf(runId, 101, nowhere);
    expect(first.keysAfter).toBe(keyOf(8191));
    const second = await pointsOf(runId, 101, nowhere, { ...fromBegin, key: first.keysAfter! });
    expect(second.kinds.filter((kind) => kind === "key")).toHaveLength(808);
    expect(second.keysAfter).toBeUndefined();
    const query = { orgId: tenant.orgId, runId };
    const late = await readPoints(ingest.db, { ...query, range: { startStep: 15, endStep: undefined } }, 100);
    expect(late.keys.map(({ key, points }) => [key, points.values[0]])).toEqual([
      [keyOf(0), 1],
      [keyOf(8999), 2],
    ]);
    const none = await readPoints(ingest.db, { ...query, range: nowhere }, 100);
    expect([none.keys, none.truncated]).toEqual([[], false]);
  });
});

test("versions are in the requested order, and rise with each write", async () => {
  const [written, empty] = [await ingest.newRun(tenant), await ingest.newRun(tenant)];
  const ask = () => listMetricVersions(ingest.db, tenant.orgId, [empty, written]);
  expect(await ask()).toEqual([0, 0]);
  await write(written, [[0, { loss: 1 }]]);
  const [, first] = await ask();
  expect(first).toBeGreaterThan(0);
  await write(written, [[0, { loss: 1 }]]);
  const [none, second] = await ask();
  expect(none).toBe(0);
  expect(second).toBeGreaterThan(first!);
  await compaction.round();
  expect(await ask()).toEqual([0, second]);
});

test("another organization gets nothing of a run, in either tier", async () => {
  const runId = await longRun(600, 1);
  const { orgId } = await ingest.newTenant();
  expect(await listMetricVersions(ingest.db, orgId, [runId])).toEqual([0]);
  expect((await seriesOf({ runIds: [runId], orgId })).rows).toEqual([
    { kind: "run", run: 1, version: 0, keys: new Map() },
  ]);
  const { keys, version } = await readPoints(ingest.db, { orgId, runId, range: everywhere }, 10);
  expect([keys, version]).toEqual([[], 0]);
});

const chunkValues = testSql("SELECT ingest.chunk_values($1, $2) AS n");
const inOneBucket = testSql("SELECT ingest.in_one_bucket($1, $2, $3, $4, $5) AS same");

describe("what SQL says of blocks", () => {
  test.each([1, 2, 3, 63, 64, 1000, 2047, 4095, 4096, 8191])(
    "chunk statistics of %d values have that count",
    async (count) => {
      const heads = Buffer.alloc(144);
      heads.writeDoubleLE(count, 72);
      const counts = await Promise.all(
        [0, 1, 2].map(async (slot) => (await ingest.db.one<{ n: number }>(chunkValues, [heads, slot]))!.n),
      );
      expect(counts).toEqual([0, count, 0]);
    },
  );

  test.each([12_345, 65_536, 4_194_303])(
    "chunk statistics of %d values have that count or little less",
    async (count) => {
      const heads = Buffer.alloc(72);
      heads.writeDoubleLE(count, 0);
      const { n } = (await ingest.db.one<{ n: number }>(chunkValues, [heads, 0]))!;
      expect(n).toBeLessThanOrEqual(count);
      expect(n).toBeGreaterThan(count * 0.06);
    },
  );

  test.each([
    [0, 4.9, 0, 9, 2, true],
    [4.9, 5, 0, 9, 2, false],
    [9, 9, 0, 9, 2, true],
    [7, 7, 7, 7, 9, true],
    [5e-324, 1e-300, 0, 1e299, 4096, true],
    [0, 1e299, 0, 1e299, 1, true],
    [0, 0, 0, Number.MAX_VALUE, 2, false],
    // Steps of other keys, which the block has as well.
    [0, Number.MAX_VALUE, 3, 4, 1, true],
    [5, Number.MAX_VALUE, 0, 9, 2, true],
    [4, Number.MAX_VALUE, 0, 9, 2, false],
    [0, 6, 5, 14, 2, true],
    [2 ** 53 - 2, 2 ** 53, 2 ** 52, 2 ** 53, 4096, true],
  ])("steps from %d to %d of %d to %d in %d buckets lie in one: %j", async (a, b, low, high, buckets, same) => {
    expect(await ingest.db.one(inOneBucket, [a, b, low, high, buckets])).toEqual({ same });
  });
});
