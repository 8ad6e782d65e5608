import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { isCodecError } from "@tidemark/codecs/metrics";
import { type Db } from "@tidemark/pg";
import { claimCompactionWork, type WorkItem } from "../../compaction/compaction-work.sql.ts";
import { startCompaction } from "../../compaction/work-loop.ts";
import { startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { arrangeMetrics } from "./arrange-metrics.ts";
import { metricCompaction } from "./compact-metrics.ts";
import { KEY_RANGE_RULES } from "./key-ranges.rules.ts";
import { openMetricBlocks, readSegments } from "./metric-block-store.ts";
import { listMetricSegments } from "./metric-blocks.sql.ts";
import { createHandWrittenRun, type SegmentPoint, type HandWrittenRun } from "./metric-tiers.fixture.ts";

// One file, because all cases share one compactor and its runs.

let ingest: IngestFixture;
let worker: Db;
let tenant: Tenant;
let run: HandWrittenRun;

const newRun = async (): Promise<HandWrittenRun> =>
  createHandWrittenRun(ingest.owner, { orgId: tenant.orgId, runId: await ingest.newRun(tenant) });

beforeAll(async () => {
  ingest = await startIngest();
  worker = ingest.poolOf("tidemark_ingest_worker");
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  run = await newRun();
});

const pointsOf = (firstStep: number, count: number, keys: readonly string[] = ["loss", "acc"]): SegmentPoint[] =>
  Array.from({ length: count }, (_, i) => ({
    step: firstStep + i,
    metrics: Object.fromEntries(keys.map((key, k) => [key, (firstStep + i) / (k + 3)])),
    timestampUs: null,
  }));

const tiers = testSql(`SELECT (SELECT count(*) FROM ingest.metric_segments WHERE run_id = $1) AS rows,
          (SELECT count(*) FROM ingest.metric_blocks WHERE run_id = $1) AS blocks`);
const inTiers = () => ingest.owner.one<{ rows: number; blocks: number }>(tiers, [run.runId]);
const isWhole = async () => expect(await run.stored()).toEqual(run.model());

const otherWork = testSql("DELETE FROM ingest.compaction_work");
const otherMarks = testSql("DELETE FROM ingest.dirty_markers");
const insertWork = testSql(`INSERT INTO ingest.compaction_work (org_id, kind, run_id, part, due_at, marked_at)
   VALUES ($1, 'metrics', $2, '', now(), now())`);

/** Claims this run, which is the only work. */
async function claim(leaseSeconds = 60): Promise<WorkItem> {
  await ingest.owner.rows(otherWork, []);
  await ingest.owner.rows(otherMarks, []);
  await ingest.owner.rows(insertWork, [run.orgId, run.runId]);
  const [item] = await claimCompactionWork(worker, "metrics", { count: 1, leaseSeconds });
  return item!;
}

/** Does one step of a compactor, up to the change itself. */
async function arrangeAll(db: Db, fence: string) {
  const giveTurn = () => Promise.resolve();
  const rows = await listMetricSegments(worker, run, { rowsMax: 1000, bytesMax: 1e7 });
  const parts = await readSegments(KEY_RANGE_RULES, rows, giveTurn);
  const store = openMetricBlocks(db, run, KEY_RANGE_RULES, { fence, leaseSeconds: 60 });
  return () =>
    arrangeMetrics(
      store,
      KEY_RANGE_RULES,
      { segmentIds: rows.map(({ id }) => id), parts, untidy: [], effort: "best", isComplete: false },
      giveTurn,
    );
}

const visit = (item: WorkItem, patienceSeconds: number, isStopping = () => false) =>
  metricCompaction(worker, { patienceSeconds }).visit(item, isStopping);

describe("compaction", () => {
  test("moves landing segments into blocks, with everything that they hold", async () => {
    await run.land(pointsOf(0, 50));
    await run.land([
      { step: 7.5, metrics: { loss: -0, tiny: 5e-324 }, timestampUs: 1_700_000_000_000_123 },
      { step: 3, metrics: { loss: 1e308 }, timestampUs: null },
    ]);
    await run.land(pointsOf(0, 3));
    await ingest.compactor().round();
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    await isWhole();
  });

  test("joins what arrives later with the block before, as long as that is small", async () => {
    const compaction = ingest.compactor();
    for (let step = 0; step < 200; step += 10) {
      await run.land(pointsOf(step, 10));
      await compaction.round();
    }
    expect((await inTiers())!.blocks).toBeLessThanOrEqual(6);
    await isWhole();
  });

  test("spreads many keys over key ranges, in changes of bounded size", async () => {
    const keys = Array.from({ length: 6000 }, (_, i) => `k${i}`);
    const compaction = ingest.compactor(undefined, { pointsMax: 64, valuesMax: 2048, childValuesMin: 32 });
    for (let round = 0; round < 3; round++) {
      for (let from = 0; from < keys.length; from += 1000)
        await run.land(pointsOf(round, 1, keys.slice(from, from + 1000)));
      await compaction.round();
    }
    expect((await inTiers())!.rows).toBe(0);
    expect((await inTiers())!.blocks).toBeGreaterThan(10);
    await isWhole();
  });

  test("leaves few segments alone that are young", async () => {
    await run.land(pointsOf(0, 5));
    const item = await claim();
    // Rows of these tests seem to have been received in 2023.
    const patient = 1e10;
    expect(await visit(item, patient)).toMatchObject({ rows: 0, isQuiet: false });
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    expect(await visit(item, 60)).toMatchObject({ rows: 1, blocks: 1, isQuiet: false, nextSeconds: 60 });
    expect(await visit(item, 60)).toMatchObject({ rows: 0, isQuiet: true, nextSeconds: 240 });
  });

  test("takes many segments however young they are", async () => {
    for (let i = 0; i < 64; i++) await run.land(pointsOf(i, 1));
    expect(await visit(await claim(), 1e10)).toMatchObject({ rows: 64, blocks: 1 });
  });

  test("ends after the current step when it is told to", async () => {
    await run.land(pointsOf(0, 5));
    const result = await visit(await claim(), 0, () => true);
    expect(result).toEqual({ rows: 0, blocks: 0, nextSeconds: 0, isQuiet: false });
  });
});

describe("a run that was not written for a quarter of an hour", () => {
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

  test("is left with few blocks, which are still joined with others when it continues", async () => {
    const item = await claim();
    for (const count of [40, 10, 3]) {
      await run.land(pointsOf(0, count));
      await visit(item, 0);
    }
    const before = (await inTiers())!.blocks;
    expect(await visit({ ...item, markedAt: minutesAgo(14) }, 60)).toMatchObject({ blocks: 0, isQuiet: true });
    expect((await inTiers())!.blocks).toBe(before);
    expect(await visit({ ...item, markedAt: minutesAgo(16) }, 60)).toMatchObject({ rows: 0, blocks: 1, isQuiet: true });
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    await isWhole();
    await run.land(pointsOf(0, 300));
    await visit(item, 0);
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    await isWhole();
  });

  test("with many keys has few blocks of each key range", async () => {
    const keys = Array.from({ length: 400 }, (_, i) => `k${i}`);
    const item = await claim();
    for (const count of [24, 6, 2]) {
      await run.land(pointsOf(0, count, keys));
      await visit(item, 0);
    }
    expect((await inTiers())!.blocks).toBe(6);
    await visit({ ...item, markedAt: minutesAgo(16) }, 60);
    expect(await inTiers()).toEqual({ rows: 0, blocks: 2 });
    await isWhole();
  });

  test("is not completed by a compactor that lost its claim", async () => {
    const item = await claim();
    for (const count of [8, 2]) {
      await run.land(pointsOf(0, count));
      await visit(item, 0);
    }
    const before = await inTiers();
    expect(before!.blocks).toBe(2);
    const lost = { ...item, fence: randomUUID(), markedAt: minutesAgo(16) };
    expect(await visit(lost, 60)).toMatchObject({ blocks: 0, isQuiet: false });
    expect(await inTiers()).toEqual(before);
  });
});

describe("a compactor that lost its claim", () => {
  test("changes nothing, whether another has done the work meanwhile or has not begun", async () => {
    await run.land(pointsOf(0, 10));
    const first = await claim(0);
    const late = await arrangeAll(worker, first.fence);
    const [second] = await claimCompactionWork(worker, "metrics", { count: 1, leaseSeconds: 60 });
    expect(await late()).toBe("lost");
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    expect(await (await arrangeAll(worker, second!.fence))()).toMatchObject({ blocks: 1 });
    expect(await late()).toBe("lost");
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    await isWhole();
  });

  test("says so in its visit, and the run is whole afterwards", async () => {
    await run.land(pointsOf(0, 10));
    const item = await claim();
    expect(await visit({ ...item, fence: randomUUID() }, 0)).toMatchObject({ rows: 0, blocks: 0 });
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    await isWhole();
  });

  test("loses nothing and doubles nothing where two work on one run at the same time, again and again", async () => {
    const item = await claim();
    for (let round = 0; round < 8; round++) {
      for (let i = 0; i < 5; i++) await run.land(pointsOf(round * 50 + i * 10, 10));
      const reclaim = testSql("UPDATE ingest.compaction_work SET fence = gen_random_uuid() RETURNING fence");
      const holder = await ingest.owner.one<{ fence: string }>(reclaim, []);
      const results = await Promise.allSettled([visit(item, 0), visit({ ...item, fence: holder!.fence }, 0)]);
      // If one removes rows while the other reads them, the other fails.
      expect(results[1].status).toBe("fulfilled");
      await isWhole();
    }
    expect((await inTiers())!.rows).toBe(0);
  });
});

describe("while a compactor's change has not committed", () => {
  test.each(["commit", "roll back"] as const)(
    "writes continue, and readers see every value once, before and after its %s",
    async (end) => {
      await run.land(pointsOf(0, 10));
      const { fence } = await claim();
      const change = worker.transaction(async (tx) => {
        const inTransaction: Db = { ...worker, ...tx };
        expect(await (await arrangeAll(inTransaction, fence))()).toMatchObject({ blocks: 1 });
        for (const step of [10, 20]) {
          await run.land(pointsOf(step, 10));
          await isWhole();
        }
        if (end === "roll back") throw new Error("killed");
      });
      if (end === "commit") await change;
      else await expect(change).rejects.toThrow("killed");
      expect(await inTiers()).toEqual(end === "commit" ? { rows: 2, blocks: 1 } : { rows: 3, blocks: 0 });
      await isWhole();
    },
  );
});

describe("a damaged landing segment", () => {
  const cutShort = testSql(
    "UPDATE ingest.metric_segments SET points = substring(points FROM 1 FOR 30) WHERE run_id = $1",
  );

  test("stops neither the compactor nor other runs, and the run is tried again later", async () => {
    await run.land(pointsOf(0, 5));
    await ingest.owner.rows(cutShort, [run.runId]);
    const damaged = run;
    run = await newRun();
    await run.land(pointsOf(0, 5));
    const failures: Record<string, unknown>[] = [];
    const compaction = startCompaction({
      db: worker,
      kinds: [metricCompaction(worker, { patienceSeconds: 0 })],
      metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
      log: { warn: (_text, fields) => void failures.push(fields!) },
      tickMs: 3_600_000,
    });
    await compaction.round();
    await compaction.stop();
    expect(failures.map(({ run_id: runId, error }) => [runId, isCodecError(error)])).toEqual([[damaged.runId, true]]);
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    run = damaged;
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    const backOff = testSql("SELECT failures, due_at > now() AS later FROM ingest.compaction_work WHERE run_id = $1");
    expect(await ingest.owner.one(backOff, [run.runId])).toEqual({ failures: 1, later: true });
    await ingest.owner.rows(otherWork, []);
  });
});

describe("the worker's role", () => {
  const countBlocks = testSql("SELECT count(*) AS blocks FROM ingest.metric_blocks");

  test("sees blocks of the organization that it enters alone, and none without one", async () => {
    await run.land(pointsOf(0, 5));
    await ingest.compactor().round();
    const other = await ingest.newTenant();
    await expect(worker.rows(countBlocks, [])).rejects.toThrow(/app\.org_id|uuid/);
    expect(await worker.withTenant(other.orgId, (tx) => tx.one(countBlocks, []))).toEqual({ blocks: 0 });
    const foreign = { orgId: other.orgId, runId: run.runId };
    expect(await listMetricSegments(worker, foreign, { rowsMax: 9, bytesMax: 9 })).toEqual([]);
  });

  test("learns about how many segments wait in all", async () => {
    const kind = metricCompaction(worker, { patienceSeconds: 0 });
    await run.land(pointsOf(0, 5));
    // The server updates its count a moment later, at most ten seconds.
    const until = Date.now() + 25_000;
    while ((await kind.countWaiting()) < 1 && Date.now() < until) await new Promise(setImmediate);
    expect(await kind.countWaiting()).toBeGreaterThanOrEqual(1);
  });

  test("is not open to the service's own role, which may not write blocks either", async () => {
    const waiting = testSql("SELECT FROM ingest.waiting_metric_rows($1, $2, 1, 1)");
    await expect(ingest.db.rows(waiting, [run.orgId, run.runId])).rejects.toThrow(/permission denied/);
    const drop = testSql("DELETE FROM ingest.metric_blocks");
    const asService = ingest.db.withTenant(tenant.orgId, (tx) => tx.rows(drop, []));
    await expect(asService).rejects.toThrow(/permission denied/);
  });
});
