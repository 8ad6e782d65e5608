import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Db } from "@tidemark/pg";
import { testSql, until } from "@tidemark/testkit";
import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type Tenant,
  type TestPoint,
} from "../../ingest.fixture.ts";
import { indexQuietRuns } from "./sort-value-indexer.ts";
import { listUnindexedRuns, indexSortValues, finishIndexing } from "./sort-values.sql.ts";

let fixture: IngestFixture;
let workerDb: Db;
let runsDb: Db;
beforeAll(async () => {
  fixture = await startIngest();
  workerDb = fixture.poolOf("tidemark_ingest_worker");
  runsDb = fixture.poolOf("tidemark_runs");
});
afterAll(() => fixture.close());

/** A process that remembers nothing, and so does not know that a run has a row of this minute. */
let writer: IngestFixture["write"];
beforeAll(() => {
  writer = fixture.writer(undefined, { cacheBytes: 1 });
});

const append = (tenant: Tenant, runId: string, ...points: TestPoint[]) =>
  writer.appendMetrics({ runId, columns: columnsOf(...points) }, callOf(tenant));

const agoMinutes = testSql(
  "UPDATE ingest.unindexed_runs SET touched_minute = touched_minute - $2::int WHERE run_id = $1",
);
/** The last write was five minutes earlier. */
const makeQuiet = (runId: string) => fixture.owner.rows(agoMinutes, [runId, 5]);
const indexAll = () => indexQuietRuns({ db: fixture.db, workerDb });

const ranks = testSql(`SELECT 'indexed' AS state, key, sort_best, sort_latest FROM ingest.sort_values_v1
   WHERE org_id = $1 AND run_id = $2 AND indexed
   UNION ALL
   SELECT 'unindexed', k.key, v.sort_best, v.sort_latest
   FROM ingest.metric_keys_v1 k CROSS JOIN LATERAL ingest.unindexed_sort_values_v2($1, k.key) v
   WHERE k.org_id = $1 AND k.run_id = $2 AND v.run_id = $2
   ORDER BY key`);
const points =
  testSql(`SELECT coalesce((SELECT points FROM ingest.run_points_v1 WHERE org_id = $1 AND run_id = $2), 0) AS run,
          coalesce((SELECT points FROM ingest.project_points_v1 WHERE org_id = $1), 0) AS project`);

/** The runs service's read of a run. */
async function read(tenant: Tenant, runId: string) {
  return runsDb.readTenant(tenant.orgId, async (tx) => ({
    ranks: (await tx.rows<Record<string, unknown>>(ranks, [tenant.orgId, runId])).map((row) => Object.values(row)),
    points: await tx.one<{ run: number; project: number }>(points, [tenant.orgId, runId]),
  }));
}

test("values to sort by are right before, while and after a run is indexed, each once", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, { loss: 3, score: 1 }], [1, { loss: 2, score: 5 }]);
  expect(await read(tenant, runId)).toEqual({
    ranks: [
      ["unindexed", "loss", -2, 2],
      ["unindexed", "score", 5, 5],
    ],
    points: { run: 4, project: 4 },
  });
  // It was written just now.
  await indexAll();
  expect((await read(tenant, runId)).ranks.map(([state]) => state)).toEqual(["unindexed", "unindexed"]);

  await makeQuiet(runId);
  expect(await indexAll()).toBe(1);
  expect(await read(tenant, runId)).toEqual({
    ranks: [
      ["indexed", "loss", -2, 2],
      ["indexed", "score", 5, 5],
    ],
    points: { run: 4, project: 4 },
  });

  await append(tenant, runId, [2, { loss: 1.5, extra: 9 }]);
  expect(await read(tenant, runId)).toEqual({
    ranks: [
      ["unindexed", "extra", 9, 9],
      ["unindexed", "loss", -1.5, 1.5],
      ["unindexed", "score", 5, 5],
    ],
    points: { run: 6, project: 6 },
  });
  await makeQuiet(runId);
  await indexAll();
  expect(await read(tenant, runId)).toEqual({
    ranks: [
      ["indexed", "extra", 9, 9],
      ["indexed", "loss", -1.5, 1.5],
      ["indexed", "score", 5, 5],
    ],
    points: { run: 6, project: 6 },
  });
});

test("a write between the steps leaves the run unindexed, and the next round indexes it", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, { loss: 3 }]);
  await makeQuiet(runId);
  const run = (await listUnindexedRuns(workerDb, 2, 100)).find((listed) => listed.runId === runId);
  if (run === undefined) throw new Error("the quiet run is not listed");
  await fixture.db.withTenant(tenant.orgId, (tx) => indexSortValues(tx, run, "", 100));
  await append(tenant, runId, [1, { loss: 1 }]);
  expect(await fixture.db.withTenant(tenant.orgId, (tx) => finishIndexing(tx, run))).toBe(false);
  expect((await read(tenant, runId)).ranks).toEqual([["unindexed", "loss", -1, 1]]);
  await makeQuiet(runId);
  await indexAll();
  expect((await read(tenant, runId)).ranks).toEqual([["indexed", "loss", -1, 1]]);
});

test("a write waits for the last step, and is not lost", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, { loss: 3 }]);
  await makeQuiet(runId);
  const run = (await listUnindexedRuns(workerDb, 2, 100)).find((listed) => listed.runId === runId);
  if (run === undefined) throw new Error("the quiet run is not listed");
  let written: Promise<unknown> = Promise.resolve();
  await fixture.db.withTenant(tenant.orgId, async (tx) => {
    await indexSortValues(tx, run, "", 100);
    expect(await finishIndexing(tx, run)).toBe(true);
    written = append(tenant, runId, [1, { loss: 0.5 }]);
  });
  await written;
  expect((await read(tenant, runId)).ranks).toEqual([["unindexed", "loss", -0.5, 0.5]]);
});

test("more keys than a step takes are all indexed", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  const metrics = Object.fromEntries(Array.from({ length: 1200 }, (_, n) => [`k${n}`, n]));
  for (const from of [0, 600]) {
    await append(tenant, runId, [0, Object.fromEntries(Object.entries(metrics).slice(from, from + 600))]);
  }
  await makeQuiet(runId);
  await indexAll();
  const { ranks: indexed, points: counted } = await read(tenant, runId);
  expect(indexed).toHaveLength(1200);
  expect(new Set(indexed.map(([state]) => state))).toEqual(new Set(["indexed"]));
  expect(counted).toEqual({ run: 1200, project: 1200 });
});

test("indexing pauses between the steps of a run with many keys as long as it works, and not at all with few", async () => {
  const tenant = await fixture.newTenant();
  const indexNew = async (keys: number): Promise<number[]> => {
    const runId = await fixture.newRun(tenant);
    await append(tenant, runId, [0, Object.fromEntries(Array.from({ length: keys }, (_, n) => [`k${n}`, n]))]);
    await makeQuiet(runId);
    const pauses: number[] = [];
    const started = performance.now();
    expect(await indexQuietRuns({ db: fixture.db, workerDb, pauseFor: async (ms) => void pauses.push(ms) })).toBe(1);
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(performance.now() - started);
    return pauses;
  };
  expect(await indexNew(300)).toEqual([]);
  const pauses = await indexNew(1200);
  // Steps of 500, 500 and 200 keys, and one that finds no more: before the last two.
  expect(pauses).toHaveLength(2);
  for (const ms of pauses) expect(ms).toBeGreaterThan(0);
});

test("indexing that is stopped ends after the current step, and the next round does the rest", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, Object.fromEntries(Array.from({ length: 1200 }, (_, n) => [`k${n}`, n]))]);
  await makeQuiet(runId);
  let steps = 0;
  expect(await indexQuietRuns({ db: fixture.db, workerDb, isStopped: () => ++steps > 1 })).toBe(0);
  const half = (await read(tenant, runId)).ranks.filter(([state]) => state === "unindexed");
  expect(half).toHaveLength(1200);
  expect(await indexAll()).toBe(1);
  expect((await read(tenant, runId)).ranks.filter(([state]) => state === "indexed")).toHaveLength(1200);
});

test("the worker sees which runs are unindexed and nothing else of them", async () => {
  await expect(workerDb.rows(testSql("SELECT * FROM ingest.metric_aggregate_pages"), [])).rejects.toThrow(
    /permission denied|app.org_id/,
  );
});

test("nothing foreign is seen through the views", async () => {
  const tenant = await fixture.newTenant();
  const stranger = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, { loss: 3 }]);
  const reads = ["sort_values_v1", "sort_keys_v1", "project_points_v1", "run_points_v1"].map(
    (view) => `ingest.${view}`,
  );
  for (const read of [...reads, `ingest.unindexed_sort_values_v2('${tenant.orgId}', 'loss')`]) {
    const seen = await runsDb.readTenant(stranger.orgId, (tx) => tx.rows(testSql(`SELECT * FROM ${read}`), []));
    expect(seen).toEqual([]);
  }
});

test("a process notes that a run is unindexed once a minute", async () => {
  const tenant = await fixture.newTenant();
  const process = fixture.writer();
  const note = testSql(`SELECT touched_minute AS minute, floor(extract(epoch FROM now()) / 60)::integer AS now
     FROM ingest.unindexed_runs WHERE run_id = $1`);
  const noteOf = async (runId: string) => (await fixture.owner.one<{ minute: number; now: number }>(note, [runId]))!;
  const notes = await until("two writes in one minute", async () => {
    const runId = await fixture.newRun(tenant);
    const write = (step: number) =>
      process.appendMetrics({ runId, columns: columnsOf([step, { loss: 1 }]) }, callOf(tenant));
    await write(0);
    const first = await noteOf(runId);
    await fixture.owner.rows(agoMinutes, [runId, 1]);
    await write(1);
    const last = await noteOf(runId);
    return first.now === last.now ? [first, last].map(({ minute, now }) => minute - now) : undefined;
  });
  expect(notes).toEqual([0, -1]);
});

test("a group that knows of a note of the minute before leaves another", async () => {
  const tenant = await fixture.newTenant();
  const runId = await fixture.newRun(tenant);
  await append(tenant, runId, [0, { loss: 1 }]);
  await fixture.owner.rows(agoMinutes, [runId, 1]);
  const group =
    testSql(`SELECT outcome, noted_minute - (SELECT touched_minute FROM ingest.unindexed_runs WHERE run_id = $2) AS later
     FROM ingest.append_metric_group($1, 0, 0::smallint,
       ARRAY[ROW($2, 1, 2, 1, 1, (SELECT touched_minute FROM ingest.unindexed_runs WHERE run_id = $2))::ingest.metric_run_change],
       '{}', '{}', '{}', '{}', '{}', '{}', '{}')`);
  const row = await fixture.db.withTenant(tenant.orgId, (tx) =>
    tx.one<{ outcome: string; later: number }>(group, [tenant.orgId, runId]),
  );
  expect(row!.outcome).toBe("applied");
  expect(row!.later).toBeGreaterThanOrEqual(1);
  const ago = testSql(
    `SELECT floor(extract(epoch FROM now()) / 60)::integer - touched_minute AS minutes FROM ingest.unindexed_runs WHERE run_id = $1`,
  );
  expect((await fixture.owner.one<{ minutes: number }>(ago, [runId]))!.minutes).toBeLessThanOrEqual(1);
});
