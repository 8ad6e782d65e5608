import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { columnsOfRequest, encodeLogBlock } from "@tidemark/log-codec";
import { createDb, migrate, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { startCompaction } from "../compaction/work-loop.ts";
import { ingestMigrations, ingestMigrationsBefore, runsMigrations } from "../migrations.fixture.ts";
import { logCompaction } from "./compact-log-lines.ts";
import type { ScannedLine } from "./line-window.rules.ts";
import { appendLogLines, readLogPage } from "./log-lines.sql.ts";
import { logStart, type LogSource } from "./log-page.rules.ts";

let database: TestDatabase;
let db: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

/** Numbers that repeat and leave gaps, ids in another order, texts of all lengths, times with and without. */
const lineOf = (n: number) => ({
  lineNumber: (n * 7) % 1500,
  id: 1_000_000 + n,
  message: n % 5 === 0 ? "" : `é line ${n} ${"x".repeat((n * 37) % 400)}`,
  sentAt:
    n % 3 === 0 ? null : `2026-01-02T03:04:${String(n % 60).padStart(2, "0")}.${String(n % 1000).padStart(3, "0")}007Z`,
  createdAt: `2026-01-02T04:00:00.${String(n % 1_000_000).padStart(6, "0")}Z`,
});
const lines = Array.from({ length: 3000 }, (_, n) => lineOf(n));
const sources: LogSource[] = [
  { orgId: randomUUID(), runId: randomUUID(), stream: "stdout" },
  { orgId: randomUUID(), runId: randomUUID(), stream: "stderr" },
];

const insert = sql(
  "test_insert_old_log_lines",
  `INSERT INTO ingest.log_lines (org_id, run_id, stream, line_number, id, message, sent_at, created_at)
   SELECT $1, $2, $3, * FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::timestamptz[], $8::timestamptz[])`,
);

beforeAll(async () => {
  database = await createTestDatabase();
  before = await ingestMigrationsBefore("0005");
  await migrate(database.url, [runsMigrations, before]);
  const owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const { orgId, runId, stream } of sources) {
    await owner.rows(insert, [
      orgId,
      runId,
      stream,
      lines.map(({ lineNumber }) => lineNumber),
      lines.map(({ id }) => id),
      lines.map(({ message }) => message),
      lines.map(({ sentAt }) => sentAt),
      lines.map(({ createdAt }) => createdAt),
    ]);
  }
  await owner.close();
  await migrate(database.url, [ingestMigrations]);
  db = createDb({ url: database.url, role: "tidemark_ingest", application: "test", connectionsMax: 2 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
  await before.remove();
});

const wanted = lines
  .toSorted((a, b) => a.lineNumber - b.lineNumber || a.id - b.id)
  .map(({ lineNumber, id, message, sentAt, createdAt }) => ({
    lineNumber,
    id,
    message,
    createdUs: Date.parse(`${createdAt.slice(0, 23)}Z`) * 1000 + Number(createdAt.slice(23, 26)),
    sentSeconds: sentAt === null ? Number.NaN : Date.parse(`${sentAt.slice(0, 19)}Z`) / 1000,
    sentMicros: sentAt === null ? 0 : Number(sentAt.slice(20, 26)),
  }));

const readAll = async (source: LogSource): Promise<ScannedLine[]> => {
  const all: ScannedLine[] = [];
  for (let page: readonly ScannedLine[] = []; all.length === 0 || page.length > 0; all.push(...page)) {
    page = await readLogPage(db, source, { after: all.at(-1) ?? logStart, linesMax: 700, matchesMax: 700, text: "" });
  }
  return all;
};

test.each(sources)(
  "every line of $stream that was a row is read from blocks, with its number, id and times",
  async (source) => {
    expect(await readAll(source)).toEqual(wanted);
  },
);

test("the blocks are about as large as a compactor's, and in one level", async () => {
  const count = sql(
    "test_count_migrated_blocks",
    "SELECT count(*) AS blocks, max(level) AS level, max(lines) AS lines, max(message_bytes) AS bytes FROM ingest.log_blocks",
  );
  const found = await db.withTenant(sources[0]!.orgId, (tx) =>
    tx.one<{ blocks: number; level: number; lines: number; bytes: number }>(count, []),
  );
  expect(found!.level).toBe(0);
  expect(found!.blocks).toBeGreaterThan(3);
  expect(found!.bytes).toBeLessThan(100 * 1024);
});

test("they are rewritten together with what follows them", async () => {
  const [source] = sources;
  const added = Array.from({ length: 50 }, (_, i) => ({ lineNumber: 1500 + i, message: "y".repeat(3000), sent: null }));
  const columns = columnsOfRequest(added);
  await appendLogLines(db, {
    source: source!,
    runKnown: true,
    onlyProject: null,
    idempotency: null,
    takeId: () => 2 ** 40,
    lowestLine: 1500,
    highestLine: 1549,
    lines: 50,
    messageBytes: 150_000,
    block: encodeLogBlock(columns, { compressFrom: 0 }),
    markerSeconds: 0,
  });
  const versions = sql(
    "test_block_versions",
    `SELECT get_byte(block, 0) AS version, count(*) AS blocks, max(last_line) AS "lastLine"
     FROM ingest.log_blocks WHERE run_id = $1 GROUP BY 1 ORDER BY 1`,
  );
  const inBlocks = () => db.withTenant(source!.orgId, (tx) => tx.rows(versions, [source!.runId]));
  const [plain] = (await inBlocks()) as { blocks: number }[];

  const worker = createDb({
    url: database.url,
    role: "tidemark_ingest_worker",
    application: "test",
    connectionsMax: 1,
  });
  const compaction = startCompaction({
    db: worker,
    // Larger blocks than they are, so that none of them counts as full.
    kinds: [logCompaction(worker, { restSeconds: 0, patienceSeconds: 0 }, { blockWeight: 2 ** 21, levelsMax: 4 })],
    metrics: { compactionVisit: () => {}, compactionBacklog: () => {} },
    log: {
      warn: (text) => {
        throw new Error(text);
      },
    },
  });
  await compaction.round();
  await compaction.stop();
  await worker.close();
  expect(plain!.blocks).toBeGreaterThan(3);
  expect(await inBlocks()).toEqual([{ version: 1, blocks: 1, lastLine: 1549 }]);
  const all = await readAll(source!);
  expect(all.slice(0, 3000)).toEqual(wanted);
  expect(all.slice(3000).map(({ lineNumber, id }) => [lineNumber, id])).toEqual(
    added.map(({ lineNumber }, i) => [lineNumber, 2 ** 40 + i]),
  );
});
