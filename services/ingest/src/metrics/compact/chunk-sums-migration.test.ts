import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { encodeBlock } from "@tidemark/metric-codec";
import { createDb, migrate, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { startCompaction } from "../../compaction/work-loop.ts";
import {
  artifactsMigrations,
  ingestMigrations,
  ingestMigrationsBefore,
  runsMigrations,
} from "../../migrations.fixture.ts";
import { metricCompaction } from "./compact-metrics.ts";

let database: TestDatabase;
let owner: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

const runs = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID() }));
const BLOCKS = 40;

const insertBlock = sql(
  "test_insert_unsummed_block",
  `INSERT INTO ingest.metric_blocks (org_id, run_id, first_key, width, first_seq, last_seq, first_step, last_step, points,
     value_count, steps_end, axis_end, statistics, data)
   VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
);

/** A block of the time before sums: keys 17 and 18 at 3,000 steps, which seal it. */
const blockOf = (seq: number, width: number) =>
  encodeBlock(
    {
      keyIds: Uint32Array.of(17, 18),
      steps: Float64Array.from({ length: 3000 }, (_, i) => 3000 * seq + i),
      receivedUs: new Float64Array(3000).fill(1_767_000_000_000_000),
      timestampsUs: new Float64Array(0),
      offsets: new Uint32Array(0),
      pointIndexes: new Uint32Array(0),
      values: Float64Array.from({ length: 6000 }, (_, i) => i / 7 + seq),
    },
    { firstKey: width === 16 ? 16 : 0, width, effort: "fast" },
  );

beforeAll(async () => {
  database = await createTestDatabase();
  before = await ingestMigrationsBefore("0024");
  await migrate(database.url, [runsMigrations, artifactsMigrations, before]);
  owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const { orgId, runId } of runs) {
    for (let seq = 0; seq < BLOCKS; seq++) {
      for (const width of [16, 256]) {
        const { firstStep, lastStep, points, valueCount, stepsEnd, axisEnd, statistics, data } = blockOf(seq, width);
        const numbers = [firstStep, lastStep, points, valueCount, stepsEnd, axisEnd];
        await owner.rows(insertBlock, [orgId, runId, width === 16 ? 16 : 0, width, seq, ...numbers, statistics, data]);
      }
    }
  }
  await migrate(database.url, [ingestMigrations]);
});
afterAll(async () => {
  await owner.close();
  await database.drop();
  await before.remove();
});

const sumsOf = sql(
  "test_sums_of_blocks",
  "SELECT first_seq AS seq, sums FROM ingest.metric_blocks WHERE run_id = $1 AND width = $2 ORDER BY first_seq",
);
const age = sql(
  "test_age_work",
  "UPDATE ingest.compaction_work SET marked_at = marked_at - interval '16 minutes', due_at = now()",
);

test("blocks from before there were sums get them from the compactor, those that have no statistics stay without", async () => {
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
  await owner.rows(age, []);
  await compaction.round();
  await compaction.stop();
  await db.close();
  expect(failures).toEqual([]);
  for (const { runId } of runs) {
    const narrow = await owner.rows<{ seq: number; sums: Buffer | null }>(sumsOf, [runId, 16]);
    expect(narrow).toHaveLength(BLOCKS);
    for (const { seq, sums } of narrow) expect(sums).toEqual(Buffer.from(blockOf(seq, 16).sums!));
    const wide = await owner.rows<{ sums: Buffer | null }>(sumsOf, [runId, 256]);
    expect(wide.every(({ sums }) => sums === null)).toBe(true);
  }
});
