import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { decodeLogBlock } from "@tidemark/codecs/logs";
import { isCodecError } from "@tidemark/codecs/metrics";
import { type Db } from "@tidemark/pg";
import { claimCompactionWork, type WorkItem } from "../compaction/compaction-work.sql.ts";
import { startCompaction } from "../compaction/work-loop.ts";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { absorbLines, openLogBlocks } from "./arrange-log-lines.ts";
import { logCompaction } from "./compact-log-lines.ts";
import { listLogSegments } from "./log-blocks.sql.ts";
import { LEVEL_RULES } from "./log-levels.rules.ts";
import type { LogSource } from "./log-page.rules.ts";

let ingest: IngestFixture;
let worker: Db;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  worker = ingest.poolOf("tidemark_ingest_worker");
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  runId = await ingest.newRun(tenant);
});

const write = (from: number, count: number, text = "line", stream = "stdout") =>
  ingest.write.appendLogLines(
    {
      runId,
      stream,
      lines: Array.from({ length: count }, (_, i) => ({ lineNumber: from + i, message: `${text} ${from + i}` })),
    },
    callOf(tenant),
  );
const read = async (stream = "stdout") =>
  (await ingest.read.listLogLines({ runId, stream, limit: 1000 }, callOf(tenant))).lines.map(({ message }) => message);
const lines = (from: number, count: number, text = "line") =>
  Array.from({ length: count }, (_, i) => `${text} ${from + i}`);

const tiers = testSql(`SELECT (SELECT count(*) FROM ingest.log_segments WHERE run_id = $1) AS rows,
          (SELECT count(*) FROM ingest.log_blocks WHERE run_id = $1) AS blocks`);
const inTiers = () => ingest.owner.one<{ rows: number; blocks: number }>(tiers, [runId]);

const insertWork = testSql(`INSERT INTO ingest.compaction_work (org_id, kind, run_id, part, due_at, marked_at)
   VALUES ($1, 'logs', $2, $3, now(), now())`);
const otherWork = testSql("DELETE FROM ingest.compaction_work");
const otherMarks = testSql("DELETE FROM ingest.dirty_markers");

/** Claims this stream, which is the only work. */
async function claim(leaseSeconds = 60): Promise<WorkItem> {
  await ingest.owner.rows(otherWork, []);
  await ingest.owner.rows(otherMarks, []);
  await ingest.owner.rows(insertWork, [tenant.orgId, runId, "stdout"]);
  const [item] = await claimCompactionWork(worker, "logs", { count: 1, leaseSeconds });
  return item!;
}
const source = (): LogSource => ({ orgId: tenant.orgId, runId, stream: "stdout" });
async function absorbAll(db: Db, fence: string) {
  const rows = await listLogSegments(worker, source(), { restSeconds: 0, rowsMax: 100, bytesMax: 1e6 });
  const decoded = rows.map((row) => ({
    id: row.id,
    columns: decodeLogBlock(row.block, { id: row.id, createdUs: row.receivedUs }),
  }));
  return () => absorbLines(openLogBlocks(db, source(), { fence, leaseSeconds: 60 }), LEVEL_RULES, decoded);
}

describe("compaction", () => {
  test("moves landing segments into one block a stream, and reads stay as they were", async () => {
    await write(1, 50);
    await write(51, 20);
    await write(1, 3, "err", "stderr");
    const before = [await read(), await read("stderr")];
    await ingest.compactor().round();
    expect(await inTiers()).toEqual({ rows: 0, blocks: 2 });
    expect([await read(), await read("stderr")]).toEqual(before);
    expect(before).toEqual([lines(1, 70), lines(1, 3, "err")]);
  });

  test("joins what arrives later with the block before, as long as that is small", async () => {
    const compaction = ingest.compactor();
    for (let from = 1; from < 100; from += 10) {
      await write(from, 10);
      await compaction.round();
    }
    expect((await inTiers())!.blocks).toBeLessThanOrEqual(4);
    expect(await read()).toEqual(lines(1, 100));
  });

  test("leaves segments alone that have not rested, and few segments that are young", async () => {
    await write(1, 5);
    const compaction = (restSeconds: number, patienceSeconds: number) =>
      logCompaction(worker, { restSeconds, patienceSeconds }).visit(item, () => false);
    const item = await claim();
    expect(await compaction(60, 0)).toMatchObject({ rows: 0, isQuiet: false });
    expect(await compaction(0, 60)).toMatchObject({ rows: 0, isQuiet: false });
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    expect(await compaction(0, 0)).toMatchObject({ rows: 1, blocks: 1 });
    expect(await compaction(0, 0)).toMatchObject({ rows: 0, isQuiet: true });
  });

  test("takes many segments however young they are", async () => {
    for (let i = 0; i < 64; i++) await write(1 + i, 1);
    const visit = logCompaction(worker, { restSeconds: 0, patienceSeconds: 3600 }).visit(await claim(), () => false);
    expect(await visit).toMatchObject({ rows: 64, blocks: 1 });
  });

  test("ends after the current step when it is told to", async () => {
    await write(1, 5);
    const visit = logCompaction(worker, { restSeconds: 0, patienceSeconds: 0 }).visit(await claim(), () => true);
    expect(await visit).toEqual({ rows: 0, blocks: 0, nextSeconds: 0, isQuiet: false });
  });
});

describe("a compactor that lost its claim", () => {
  test("changes nothing, whether another has done the work meanwhile or has not begun", async () => {
    await write(1, 10);
    const first = await claim(0);
    const late = await absorbAll(worker, first.fence);
    const [second] = await claimCompactionWork(worker, "logs", { count: 1, leaseSeconds: 60 });
    expect(await late()).toBe("lost");
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    expect(await (await absorbAll(worker, second!.fence))()).toEqual({ blocks: 1 });
    expect(await late()).toBe("lost");
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    expect(await read()).toEqual(lines(1, 10));
  });

  test("says so in its visit, and the stream is whole afterwards", async () => {
    await write(1, 10);
    const item = await claim();
    const visit = logCompaction(worker, { restSeconds: 0, patienceSeconds: 0 }).visit(
      { ...item, fence: randomUUID() },
      () => false,
    );
    expect(await visit).toMatchObject({ rows: 0, blocks: 0 });
    expect(await read()).toEqual(lines(1, 10));
  });
});

describe("while a compactor's change has not committed", () => {
  /** Runs `meanwhile` between the change and its end. */
  async function during(end: "commit" | "roll back", meanwhile: () => Promise<void>): Promise<void> {
    const { fence } = await claim();
    const change = worker.transaction(async (tx) => {
      const inTransaction: Db = { ...worker, ...tx };
      expect(await (await absorbAll(inTransaction, fence))()).toEqual({ blocks: 1 });
      await meanwhile();
      if (end === "roll back") throw new Error("killed");
    });
    if (end === "commit") await change;
    else await expect(change).rejects.toThrow("killed");
  }

  test.each(["commit", "roll back"] as const)(
    "writers continue, and readers see every line once, before and after its %s",
    async (end) => {
      await write(1, 10);
      await during(end, async () => {
        // Each of these writers leaves a marker, because it has nothing in memory.
        for (const from of [11, 21]) {
          const message = (n: number) => ({ lineNumber: n, message: `line ${n}` });
          await ingest
            .writer()
            .appendLogLines(
              { runId, stream: "stdout", lines: Array.from({ length: 10 }, (_, i) => message(from + i)) },
              callOf(tenant),
            );
          expect(await read()).toEqual(lines(1, from + 9));
        }
      });
      expect(await inTiers()).toEqual(end === "commit" ? { rows: 2, blocks: 1 } : { rows: 3, blocks: 0 });
      expect(await read()).toEqual(lines(1, 30));
    },
  );
});

describe("a damaged landing segment", () => {
  const damage = testSql(
    "UPDATE ingest.log_segments SET block = set_byte(block, 20, get_byte(block, 20) # 1) WHERE run_id = $1",
  );

  test("stops neither the compactor nor other streams, and a read of it fails by name", async () => {
    await write(1, 5);
    await ingest.owner.rows(damage, [runId]);
    const damaged = runId;
    runId = await ingest.newRun(tenant);
    await write(1, 5);
    const failures: unknown[] = [];
    const compaction = startCompaction({
      db: worker,
      kinds: [logCompaction(worker, { restSeconds: 0, patienceSeconds: 0 })],
      metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
      log: { warn: (_text, fields) => void failures.push(fields?.error) },
      tickMs: 3_600_000,
    });
    await compaction.round();
    await compaction.stop();
    expect(failures.map(isCodecError)).toEqual([true]);
    expect(await inTiers()).toEqual({ rows: 0, blocks: 1 });
    runId = damaged;
    expect(await inTiers()).toEqual({ rows: 1, blocks: 0 });
    await expect(read()).rejects.toMatchObject({ name: "CodecError", message: "the log block is damaged" });
  });
});

describe("the worker's role", () => {
  const countLanding = testSql("SELECT count(*) AS rows FROM ingest.log_segments");

  test("sees lines of the organization that it enters alone, and none without one", async () => {
    await write(1, 5);
    const other = await ingest.newTenant();
    await expect(worker.rows(countLanding, [])).rejects.toThrow(/app\.org_id|uuid/);
    expect(await worker.withTenant(other.orgId, (tx) => tx.one(countLanding, []))).toEqual({ rows: 0 });
  });

  test("learns about how many segments wait in all", async () => {
    const kind = logCompaction(worker, { restSeconds: 0, patienceSeconds: 0 });
    await write(1, 5);
    // The server updates its count a moment later.
    const until = Date.now() + 10_000;
    while ((await kind.countWaiting()) < 1 && Date.now() < until) await new Promise(setImmediate);
    expect(await kind.countWaiting()).toBeGreaterThanOrEqual(1);
  });

  test("is not open to the service's own role", async () => {
    const waiting = testSql("SELECT FROM ingest.waiting_log_rows($1, $2, 'stdout', 0, 1, 1)");
    await expect(ingest.db.rows(waiting, [tenant.orgId, runId])).rejects.toThrow(/permission denied/);
    const asService = ingest.db.withTenant(tenant.orgId, (tx) => tx.rows(otherWork, []));
    await expect(asService).rejects.toThrow(/permission denied/);
  });
});
