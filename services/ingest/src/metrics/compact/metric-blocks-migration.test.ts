import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createColumnsBuilder, decodeBlock, encodeSegmentTexts } from "@tidemark/metric-codec";
import { createDb, migrate, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { startCompaction } from "../../compaction/work-loop.ts";
import { ingestMigrations, ingestMigrationsBefore, runsMigrations } from "../../migrations.fixture.ts";
import { metricCompaction } from "./compact-metrics.ts";

let database: TestDatabase;
let owner: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

const keys = ["acc", "loss"];
const sources = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID() }));

/** One request of the time before blocks: steps from `first` on. */
function landingOf(first: number): Uint8Array {
  const builder = createColumnsBuilder();
  for (let step = first; step < first + 10; step++) builder.addPoint({ loss: 1 / (step + 1), acc: step }, step, null);
  return encodeSegmentTexts(builder.build());
}

const insertHead = sql(
  "test_insert_old_head",
  `INSERT INTO ingest.metric_heads
     (org_id, run_id, key, minimise, count, mean, m2, min, min_step, max, max_step, latest, latest_step, latest_id, first_step)
   VALUES ($1, $2, $3, false, 30, 1, 0, 1, 0, 1, 0, 1, 29, 192, 0)`,
);
const insertRow = sql(
  "test_insert_old_landing_row",
  `INSERT INTO ingest.metric_landing (org_id, run_id, id, received_us, first_step, last_step, points)
   VALUES ($1, $2, $3, 1700000000000000, 0, 9, $4)`,
);

beforeAll(async () => {
  database = await createTestDatabase();
  before = await ingestMigrationsBefore("0007");
  await migrate(database.url, [runsMigrations, before]);
  owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const { orgId, runId } of sources) {
    for (const key of keys) await owner.rows(insertHead, [orgId, runId, key]);
    for (const [i, id] of [64, 128, 192].entries()) await owner.rows(insertRow, [orgId, runId, id, landingOf(i * 10)]);
  }
  await migrate(database.url, [ingestMigrations]);
});
afterAll(async () => {
  await owner.close();
  await database.drop();
  await before.remove();
});

const blocksOf = sql("test_migrated_blocks", "SELECT data FROM ingest.metric_blocks WHERE org_id = $1 AND run_id = $2");
const rowsLeft = sql("test_migrated_rows", "SELECT count(*) AS rows FROM ingest.metric_segments");

test("segments from before there were blocks are compacted without another write", async () => {
  const db = createDb({ url: database.url, role: "tidemark_ingest_worker", application: "test", connectionsMax: 2 });
  const failures: unknown[] = [];
  const compaction = startCompaction({
    db,
    kinds: [metricCompaction(db, { patienceSeconds: 60 })],
    metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
    log: { warn: (text, fields) => void failures.push(text, fields?.error) },
    tickMs: 3_600_000,
  });
  await compaction.round();
  await compaction.stop();
  await db.close();
  expect(failures).toEqual([]);
  expect(await owner.one(rowsLeft, [])).toEqual({ rows: 0 });
  for (const { orgId, runId } of sources) {
    const [block] = await owner.rows<{ data: Uint8Array }>(blocksOf, [orgId, runId]);
    const { keyIds, steps, values } = decodeBlock(block!.data);
    const wanted = Array.from({ length: 30 }, (_, step) => step);
    expect([[...keyIds], [...steps]]).toEqual([[0, 1], wanted]);
    expect([...values]).toEqual([...wanted, ...wanted.map((step) => 1 / (step + 1))]);
  }
});
