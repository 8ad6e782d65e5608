import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { encodeLogBlock, type LogColumns } from "@tidemark/codecs/logs";
import { byteaArray, type Db, sql, type Tx } from "@tidemark/pg";
import { startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { readLogPage, readLogTail } from "./log-lines.sql.ts";
import { logStart, type LogPosition, type LogSource } from "./log-page.rules.ts";

/*
 * A run of a million lines: two processes wrote 500,000 each, both from line 1 on. The cost of a read is counted in rows and bytes that
 * leave the database and in rows that it looks at, not in time or memory.
 */

let ingest: IngestFixture;
let tenant: Tenant;
let source: LogSource;

const LINES_PER_BLOCK = 1000;
const BLOCKS_PER_PROCESS = 500;

const columnsOf = (firstLine: number, firstId: number): LogColumns => {
  const indexes = Array.from({ length: LINES_PER_BLOCK }, (_, i) => i);
  const texts = indexes.map((i) => `step ${firstLine + i} loss 0.${(firstLine + i) % 997} ${firstId} ok`);
  const offsets = [0];
  for (const text of texts) offsets.push(offsets.at(-1)! + text.length);
  return {
    lineNumbers: Float64Array.from(indexes, (i) => firstLine + i),
    ids: Float64Array.from(indexes, (i) => firstId + i),
    createdUs: new Float64Array(LINES_PER_BLOCK).fill(1_767_323_045_000_000),
    sentSeconds: new Float64Array(LINES_PER_BLOCK).fill(Number.NaN),
    sentMicros: new Uint32Array(LINES_PER_BLOCK),
    offsets: Uint32Array.from(offsets),
    text: Buffer.from(texts.join("")),
  };
};

const insertBlocks = testSql(`INSERT INTO ingest.log_blocks
     (org_id, run_id, stream, level, first_line, first_id, last_line, last_id, lines, message_bytes, block)
   SELECT $1, $2, $3, $4, b.line, b.id, b.line + 999, b.id + 999, 1000, 40000, b.block
   FROM unnest($5::bigint[], $6::bigint[], $7::bytea[]) AS b (line, id, block)`);

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  source = { orgId: tenant.orgId, runId: await ingest.newRun(tenant), stream: "stdout" };
  for (const level of [0, 1]) {
    const lines = Array.from({ length: BLOCKS_PER_PROCESS }, (_, i) => 1 + i * LINES_PER_BLOCK);
    const ids = lines.map((line) => (level + 1) * 2 ** 30 + line - 1);
    const blocks = lines.map((line, i) => encodeLogBlock(columnsOf(line, ids[i]!), { compressFrom: 0 }));
    await ingest.owner.rows(insertBlocks, [
      source.orgId,
      source.runId,
      source.stream,
      level,
      lines,
      ids,
      byteaArray(blocks),
    ]);
  }
  await ingest.owner.rows(testSql("ANALYZE ingest.log_blocks"), []);
});
afterAll(() => ingest.close());

type Cost = { statements: number; rows: number; bytes: number };

/** The service's pool, counting its results. */
function counted(cost: Cost): Db {
  const counting = (tx: Tx): Tx => ({
    ...tx,
    async rows<Row>(statement: Parameters<Tx["rows"]>[0], values: readonly unknown[]) {
      const rows = await tx.rows<Row & { block?: Uint8Array | null }>(statement, values);
      cost.statements += 1;
      cost.rows += rows.length;
      for (const { block } of rows) cost.bytes += block?.length ?? 0;
      return rows;
    },
  });
  return {
    ...ingest.db,
    ...counting(ingest.db),
    readTenant: (orgId, work) => ingest.db.readTenant(orgId, (tx) => work(counting(tx))),
  };
}

const deep: LogPosition = { lineNumber: 377_777, id: 2 ** 30 + 377_776 };
const page = (after: LogPosition, limit: number) => ({ after, linesMax: limit, matchesMax: limit, text: "" });
const search = (after: LogPosition, text: string) => ({ after, linesMax: 5001, matchesMax: 250, text });

describe("in a run of a million lines that began twice at 1", () => {
  type Read = (db: Db) => Promise<readonly unknown[]>;
  // One block of each process contains the position; the last row says that there are more.
  test.each<[string, number, number, number, Read]>([
    ["a page at the beginning", 250, 3, 30_000, (db) => readLogPage(db, source, page(logStart, 250))],
    ["a page deep inside", 250, 3, 30_000, (db) => readLogPage(db, source, page(deep, 250))],
    ["the last lines", 500, 3, 30_000, (db) => readLogTail(db, source, 500)],
    ["a search for what is nowhere", 5001, 9, 110_000, (db) => readLogPage(db, source, search(deep, "absent"))],
    ["a search for what is everywhere", 250, 9, 110_000, (db) => readLogPage(db, source, search(deep, "LOSS"))],
  ])("%s, %d lines, is one statement of at most %d rows and %d bytes", async (_, lines, rows, bytes, read) => {
    const cost = { statements: 0, rows: 0, bytes: 0 };
    expect(await read(counted(cost))).toHaveLength(lines);
    expect(cost.statements).toBe(1);
    expect(cost.rows).toBeLessThanOrEqual(rows);
    expect(cost.bytes).toBeLessThanOrEqual(bytes);
  });

  const lookedAt =
    testSql(`SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS rows, sum(seq_scan)::float8 AS scans
     FROM pg_stat_xact_user_tables WHERE schemaname = 'ingest' AND relname IN ('log_segments', 'log_blocks')`);
  const statements = {
    "a deep page": [
      "test_segments_after",
      "SELECT FROM ingest.log_parts_after($1, $2, $3, 377777, 1073741824, -1, -1, 250, 4000000, 9)",
    ],
    "a search": [
      "test_segments_search",
      "SELECT FROM ingest.log_parts_after($1, $2, $3, 377777, 1073741824, -1, -1, 5001, 4000000, 18)",
    ],
    "a tail": [
      "test_segments_at_end",
      "SELECT FROM ingest.log_parts_at_end($1, $2, $3, 9007199254740992, 0, 500, 4000000, 9)",
    ],
  } as const;

  test.each(Object.entries(statements))("%s makes PostgreSQL look at a few rows, by index", async (_, [name, text]) => {
    const statement = sql(name, text);
    // Often enough that PostgreSQL no longer plans for the values of one call.
    for (let calls = 0; calls < 8; calls++) {
      const [before, after] = await ingest.db.withTenant(source.orgId, async (tx) => {
        const count = () => tx.one<{ rows: number; scans: number }>(lookedAt, []);
        const first = await count();
        await tx.rows(statement, [source.orgId, source.runId, source.stream]);
        return [first!, (await count())!];
      });
      expect(after.scans).toBe(before.scans);
      expect(after.rows - before.rows).toBeLessThan(60);
      expect(after.rows - before.rows).toBeGreaterThan(0);
    }
  });

  test("pages through both processes' lines go by number, then by process", async () => {
    const lines = await readLogPage(ingest.db, source, page(deep, 4));
    expect(lines.map(({ lineNumber, id }) => [lineNumber, id > 2 ** 31 ? 2 : 1])).toEqual([
      [377_777, 2],
      [377_778, 1],
      [377_778, 2],
      [377_779, 1],
    ]);
    const tail = await readLogTail(ingest.db, source, 3);
    expect(tail.map(({ lineNumber }) => lineNumber)).toEqual([499_999, 500_000, 500_000]);
  });
});

describe("many overlapping segments", () => {
  const insertLanding = testSql(`INSERT INTO ingest.log_segments
       (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
     SELECT $1, $2, 'stdout', l.id, 0, 1, $5, $4, 0, $3 FROM generate_series(1, 3000) AS g (n), LATERAL (SELECT g.n * 64 AS id) l`);

  test("a page needs several statements, each of bounded size, and gets every line of it", async () => {
    const runId = await ingest.newRun(tenant);
    const crowded: LogSource = { ...source, runId };
    // Incompressible, so that a statement's bytes are soon used up.
    const noise = Buffer.from(Array.from({ length: 4000 }, (_, i) => 33 + ((i * i * 31 + i * 7) % 90)));
    const columns: LogColumns = {
      lineNumbers: Float64Array.of(1, 2 ** 40),
      ids: Float64Array.of(0, 1),
      createdUs: new Float64Array(2),
      sentSeconds: new Float64Array(2).fill(Number.NaN),
      sentMicros: new Uint32Array(2),
      offsets: Uint32Array.of(0, 1, 4000),
      text: noise,
    };
    const block = encodeLogBlock(columns, { compressFrom: Infinity });
    await ingest.owner.rows(insertLanding, [tenant.orgId, runId, block, 2, 2 ** 40]);
    const cost = { statements: 0, rows: 0, bytes: 0 };
    const behind = { lineNumber: 2, id: 0 };
    const lines = await readLogPage(counted(cost), crowded, page(behind, 250));
    expect(lines.map(({ lineNumber, id }) => [lineNumber, id])).toEqual(
      Array.from({ length: 250 }, (_, i) => [2 ** 40, (i + 1) * 64 + 1]),
    );
    expect(cost.statements).toBeGreaterThan(2);
    expect(cost.bytes / cost.statements).toBeLessThan(4.1 * 1024 * 1024);
    expect((await readLogTail(counted(cost), crowded, 500)).map(({ id }) => id)).toEqual(
      Array.from({ length: 500 }, (_, i) => (2501 + i) * 64 + 1),
    );
  });
});
