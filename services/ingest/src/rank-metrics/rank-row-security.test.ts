import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { compactRankRows } from "./rank-writes.sql.ts";
import { claimRankSet } from "./rank-claim.fixture.ts";
import { listRankSets, readRankValues } from "./rank-reads.sql.ts";

let ingest: IngestFixture;
let mine: Tenant;
let theirs: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  mine = await ingest.newTenant();
  theirs = await ingest.newTenant();
  runId = await ingest.newRun(mine);
  const report = { runId, keys: ["a"], values: [1], step: 0, worldSize: 2, localRank: 0, weight: 1 };
  await ingest.write.appendRankMetrics({ ...report, rank: 0 }, callOf(mine));
  const set = { orgId: mine.orgId, runId, setId: 0 };
  const worker = ingest.poolOf("tidemark_ingest_worker");
  await compactRankRows(worker, set, await claimRankSet(ingest.owner, set), bounds);
  await ingest.write.appendRankMetrics({ ...report, rank: 1 }, callOf(mine));
});
afterAll(() => ingest.close());

const bounds = { restSeconds: 0, entriesMin: 1, entriesMax: 9, overlapsMax: 4 };
const tables = ["runs", "sets", "keys", "rows", "blocks"];
// No statement here names an organization: what is seen is what row level security lets through.
const counts = new Map(
  tables.map((table) => [table, testSql(`SELECT count(*) AS n FROM ingest.rank_metric_${table}`)]),
);
const count = (db: Db, tenant: Tenant, table: string) =>
  db.withTenant(tenant.orgId, (tx) => tx.one<{ n: number }>(counts.get(table)!, []));

describe.each(tables)("of ingest.rank_metric_%s, without a condition on the organization,", (table) => {
  test("an organization sees its own rows, another none", async () => {
    expect(await count(ingest.db, mine, table)).toEqual({ n: 1 });
    expect(await count(ingest.db, theirs, table)).toEqual({ n: 0 });
  });

  test("rows are invisible outside a transaction of an organization", async () => {
    await expect(ingest.db.rows(counts.get(table)!, [])).rejects.toThrow(/app\.org_id|uuid/);
  });

  test("the service cannot delete what is read back", async () => {
    const remove = testSql(`DELETE FROM ingest.rank_metric_${table}`);
    const removed = ingest.db.withTenant(theirs.orgId, (tx) => tx.count(remove, []));
    await expect(removed).rejects.toThrow(/permission denied/);
  });
});

test("reading functions return nothing of another organization, for any organization argument", async () => {
  const range = { orgId: mine.orgId, runId, from: 0, to: Infinity };
  const read = (tenant: Tenant) =>
    ingest.db.readTenant(tenant.orgId, async (tx) => {
      const sets = [{ setId: 0, slot: 0, worldSize: 2, isPage: false }];
      return [(await listRankSets(tx, range, "a")).length, (await readRankValues(tx, range, sets)).length];
    });
  expect(await read(mine)).toEqual([1, 2]);
  expect(await read(theirs)).toEqual([0, 0]);
});

test("the work of another organization compacts nothing of ours", async () => {
  const worker = ingest.poolOf("tidemark_ingest_worker");
  const set = { orgId: theirs.orgId, runId, setId: 0 };
  expect(await compactRankRows(worker, set, await claimRankSet(ingest.owner, set), bounds)).toBe(0);
});

test("a process that has not claimed the work compacts nothing, and the service that writes cannot", async () => {
  const set = { orgId: mine.orgId, runId, setId: 0 };
  const worker = ingest.poolOf("tidemark_ingest_worker");
  const { leaseSeconds } = await claimRankSet(ingest.owner, set);
  expect(await compactRankRows(worker, set, { fence: randomUUID(), leaseSeconds }, bounds)).toBe("lost");
  const compacted = compactRankRows(ingest.db, set, await claimRankSet(ingest.owner, set), bounds);
  await expect(compacted).rejects.toThrow(/permission denied/);
  expect(await count(ingest.db, mine, "rows")).toEqual({ n: 1 });
});
