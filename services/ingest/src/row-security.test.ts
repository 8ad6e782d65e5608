import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "./ingest.fixture.ts";
import { chunkOf, tableOf } from "./objects/objects.fixture.ts";

let ingest: IngestFixture;
let mine: Tenant;
let theirs: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
  mine = await ingest.newTenant();
  theirs = await ingest.newTenant();
  runId = await ingest.newRun(mine);
  const call = callOf(mine);
  await ingest.write.appendMetrics({ runId, columns: columnsOf([0, { loss: 1 }]) }, call);
  const lines = [{ lineNumber: 0, message: "mine" }];
  await ingest.write.appendLogLines({ runId, stream: "stdout", lines }, call);
  await ingest.compactor().round();
  await ingest.write.appendMetrics({ runId, columns: columnsOf([1, { loss: 0.5 }]) }, call);
  await ingest.write.appendLogLines({ runId, stream: "stdout", lines }, call);
  const attribute = { path: "a", type: "config", valueJson: Buffer.from("1"), summaryJson: Buffer.from("{}") };
  await ingest.write.appendAttributes({ runId, attributes: [attribute] }, call);
  await ingest.write.createObject(tableOf(runId, { chunks: [chunkOf(1)] }), call);
});
afterAll(() => ingest.close());

const tables = [
  "metric_segments",
  "metric_blocks",
  "metric_runs",
  "metric_keys",
  "metric_aggregate_pages",
  "log_segments",
  "log_blocks",
  "attributes",
  "objects",
  "table_chunks",
];
// No statement here names an organization: what is seen is what row level security lets through.
const counts = new Map(
  [...tables, "metric_aggregates_v1"].map((table) => [table, testSql(`SELECT count(*) AS rows FROM ingest.${table}`)]),
);
const count = (db: Db, tenant: Tenant, table: string) =>
  db.withTenant(tenant.orgId, (tx) => tx.one<{ rows: number }>(counts.get(table)!, []));

describe.each(tables)("of ingest.%s, without a condition on the organization,", (table) => {
  test("an organization sees its own rows", async () => {
    expect(await count(ingest.db, mine, table)).toEqual({ rows: 1 });
  });

  test("another organization sees none", async () => {
    expect(await count(ingest.db, theirs, table)).toEqual({ rows: 0 });
  });

  test("rows are invisible outside a transaction of an organization", async () => {
    await expect(ingest.db.rows(counts.get(table)!, [])).rejects.toThrow(/app\.org_id|uuid/);
  });
});

test("a connection that served one organization shows the next one nothing of it", async () => {
  // The reading function enters the organization itself; what it set must end with it.
  for (let i = 0; i < 20; i++) {
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 1 }, callOf(mine));
    expect(keys).toHaveLength(1);
    expect(await count(ingest.db, theirs, "metric_segments")).toEqual({ rows: 0 });
  }
});

test("the service cannot write rows of another organization", async () => {
  const insert =
    testSql(`INSERT INTO ingest.metric_segments (org_id, run_id, id, received_us, first_step, last_step, points)
     VALUES ($1, $2, 1, 0, 0, 0, '')`);
  await expect(ingest.db.withTenant(theirs.orgId, (tx) => tx.rows(insert, [mine.orgId, runId]))).rejects.toThrow(
    /row-level security/,
  );
});

test("the service of runs reads the key aggregates through the view, of one organization only", async () => {
  const runs = ingest.poolOf("tidemark_runs");
  expect(await count(runs, mine, "metric_aggregates_v1")).toEqual({ rows: 1 });
  expect(await count(runs, theirs, "metric_aggregates_v1")).toEqual({ rows: 0 });
  await expect(count(runs, mine, "metric_segments")).rejects.toThrow(/permission denied/);
});
