import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, migrate, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { startCompaction } from "../compaction/work-loop.ts";
import { ingestMigrations, ingestMigrationsBefore, runsMigrations } from "../migrations.fixture.ts";
import { rankCompaction } from "./compact-rank-metrics.ts";

const sources = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID() }));

let database: TestDatabase;
let owner: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

const insertSet = sql(
  "test_insert_old_rank_set",
  `INSERT INTO ingest.rank_metric_sets (org_id, run_id, set_id, digest, world_size, keys)
   VALUES ($1, $2, 3, '\\x00', 8, 1), ($1, $2, 4, NULL, 8, 1)`,
);
const insertRows = sql(
  "test_insert_old_rank_rows",
  `INSERT INTO ingest.rank_metric_rows (org_id, run_id, set_id, step, rank, arrival, received_us, first_slot, packed)
   SELECT $1, $2, s.id, g.step, 0, s.id - 3, 1700000000000000, 0, float8send(g.step)
   FROM generate_series(0, 9) AS g (step), (VALUES (3), (4)) AS s (id)`,
);
const rowsLeft = sql(
  "test_old_rank_rows_left",
  "SELECT set_id AS set, count(*) AS rows FROM ingest.rank_metric_rows WHERE run_id = $1 GROUP BY set_id",
);
const blocksOf = sql(
  "test_migrated_rank_blocks",
  "SELECT entries, last_step AS last FROM ingest.rank_metric_blocks WHERE org_id = $1 AND run_id = $2",
);

beforeAll(async () => {
  database = await createTestDatabase();
  before = await ingestMigrationsBefore("0011");
  await migrate(database.url, [runsMigrations, before]);
  owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const { orgId, runId } of sources) {
    await owner.rows(insertSet, [orgId, runId]);
    await owner.rows(insertRows, [orgId, runId]);
  }
  await migrate(database.url, [ingestMigrations]);
});
afterAll(async () => {
  await owner.close();
  await database.drop();
  await before.remove();
});

test("rows of sets that were written before the compactor knew of them are compacted without another write", async () => {
  const db = createDb({ url: database.url, role: "tidemark_ingest_worker", application: "test", connectionsMax: 2 });
  const failures: unknown[] = [];
  const bounds = { restSeconds: 10, entriesMin: 4, entriesMax: 16, overlapsMax: 4 };
  const compaction = startCompaction({
    db,
    kinds: [rankCompaction(db, { patienceSeconds: 60 }, bounds)],
    metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
    log: { warn: (text, fields) => void failures.push(text, fields?.error) },
    tickMs: 3_600_000,
  });
  await compaction.round();
  await compaction.stop();
  await db.close();
  expect(failures).toEqual([]);
  for (const { orgId, runId } of sources) {
    expect(await owner.rows(blocksOf, [orgId, runId])).toEqual([{ entries: 10, last: 9 }]);
    // Pages are never compacted.
    expect(await owner.rows(rowsLeft, [runId])).toEqual([{ set: 4, rows: 10 }]);
  }
});
