import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { underDeadline } from "@tidemark/work";
import { type Db } from "@tidemark/pg";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import type { ColumnsQuery } from "./series-columns.rules.ts";
import { readColumns } from "./read-columns.ts";
import { createSeriesThreads } from "./series-threads.ts";

let ingest: IngestFixture;
let tenant: Tenant;
const seriesThreads = createSeriesThreads(1);

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(async () => {
  await seriesThreads.close();
  await ingest.close();
});

const query: ColumnsQuery = {
  keys: ["loss", "acc"],
  startStep: undefined,
  endStep: undefined,
  afterStep: undefined,
  limit: 100,
  buckets: 5,
  edges: false,
  sharedGrid: true,
  axis: "step",
  smoothing: undefined,
};

/** Writes 120 steps to a run in twelve requests. */
async function filledRun(): Promise<string> {
  const runId = await ingest.newRun(tenant);
  for (let from = 0; from < 120; from += 10) {
    const points = Array.from({ length: 10 }, (_, i) => [from + i, { loss: i, acc: from + i }] as const);
    await ingest.write.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));
  }
  return runId;
}

const runsOf = (runIds: readonly string[]) =>
  runIds.map((runId) => ({ chain: [{ runId, cutStep: Infinity }], startedUs: 0 }));

describe("a read of columns", () => {
  test("is the same in the smallest pages, in place and in a thread", async () => {
    const runs = runsOf([await filledRun(), await filledRun(), await ingest.newRun(tenant)]);
    for (const how of [{}, { smoothing: { kind: "mean", parameter: 4 } }, { axis: { metric: "acc" } }] as const) {
      const asked = { ...query, ...how };
      const whole = await readColumns({ db: ingest.db, seriesThreads }, tenant.orgId, asked, runs);
      const paged = await readColumns({ db: ingest.db, seriesThreads }, tenant.orgId, asked, runs, {
        bytes: 1,
        series: 1,
      });
      expect(paged).toEqual(whole);
      expect(whole.versions).toHaveLength(3);
      expect(whole.series.map((own) => own.map(({ sampled }) => sampled))).toEqual([
        [true, true],
        [true, true],
        [false, false],
      ]);
    }
  });

  test("of all points leaves values that are not finite out of curves and axes, and counts them", async () => {
    const runId = await ingest.newRun(tenant);
    const values = [1, NaN, 3, NaN, NaN, Infinity, 8, 8];
    const points = values.map((loss, step) => [step, { loss, acc: step === 2 ? NaN : step }] as const);
    await ingest.write.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));
    const read = async (how: Partial<ColumnsQuery>) => {
      const asked = { ...query, keys: ["loss"], ...how };
      return (await readColumns({ db: ingest.db, seriesThreads }, tenant.orgId, asked, runsOf([runId]))).series[0]![0]!;
    };
    const smoothing = { kind: "ema", parameter: 0 } as const;
    expect(await read({ smoothing, buckets: 4 })).toMatchObject({
      sampled: true,
      step: Float64Array.of(0, 2, 4, 6),
      mean: Float64Array.of(1, 3, NaN, 8),
      count: Float64Array.of(1, 1, 0, 2),
      nonFinite: Float64Array.of(1, 1, 2, 0),
      smoothed: Float64Array.of(1, 3, NaN, 8),
    });
    expect(await read({ smoothing, buckets: 2, startStep: 2, endStep: 5, edges: true })).toMatchObject({
      step: Float64Array.of(1, 2, 4, 6),
      max: Float64Array.of(NaN, 3, NaN, 8),
      count: Float64Array.of(0, 1, 0, 1),
      nonFinite: Float64Array.of(1, 1, 2, 0),
    });
    expect(await read({ axis: { metric: "acc" }, buckets: undefined })).toMatchObject({
      sampled: false,
      x: Float64Array.of(0, 1, 3, 4, 5, 6, 7),
      value: Float64Array.of(1, NaN, NaN, NaN, Infinity, 8, 8),
    });
  });

  test("ends between two pages when its request is over, and reads no more", async () => {
    const runs = runsOf([await filledRun()]);
    let left = new AbortController();
    let statements = 0;
    const counting: Db = {
      ...ingest.db,
      readTenant: (orgId, work, options) =>
        ingest.db.readTenant(
          orgId,
          (tx) =>
            work({
              ...tx,
              each: async (statement, values, take) => {
                statements += 1;
                if (statements === 4) left.abort();
                await tx.each(statement, values, take);
              },
            }),
          options,
        ),
    };
    for (const smoothing of [undefined, { kind: "mean", parameter: 4 }] as const) {
      statements = 0;
      left = new AbortController();
      const reading = underDeadline(
        Date.now() + 10_000,
        () =>
          readColumns({ db: counting, seriesThreads }, tenant.orgId, { ...query, smoothing }, runs, {
            bytes: 1,
            series: 1,
          }),
        { left: left.signal },
      );
      await expect(reading).rejects.toMatchObject({ reason: "deadline_exceeded" });
      expect(statements).toBeLessThan(7);
    }
  });

  const claimPoints = testSql(
    "UPDATE ingest.metric_aggregate_pages SET stats[1] = $2::float8, stats[11] = $2::float8 WHERE run_id = $1",
  );

  test("that needs all points of a series has at most 12,000,000, and 3,000,000 for a common range of another axis", async () => {
    const runId = await filledRun();
    const read = (how: Partial<ColumnsQuery>) =>
      readColumns(
        { db: ingest.db, seriesThreads },
        tenant.orgId,
        { ...query, keys: ["loss"], ...how },
        runsOf([runId]),
      );
    const refusal = (most: string) => ({
      reason: "bad_request",
      field: "run_ids",
      message: expect.stringContaining(most),
    });
    const smoothing = { kind: "mean", parameter: 4 } as const;
    await ingest.owner.rows(claimPoints, [runId, 3_000_001]);
    await expect(read({ axis: "time" })).rejects.toMatchObject(refusal("3,000,000"));
    expect((await read({ axis: "time", sharedGrid: false })).series).toHaveLength(1);
    expect((await read({ smoothing })).series).toHaveLength(1);
    await ingest.owner.rows(claimPoints, [runId, 12_000_001]);
    await expect(read({ smoothing })).rejects.toMatchObject(refusal("12,000,000"));
    expect((await read({})).series).toHaveLength(1);
  });
});
