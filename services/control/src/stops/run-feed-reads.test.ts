import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { createReadCounter, testSql } from "@tidemark/testkit";
import { startControl, type Control } from "../control.fixture.ts";
import { adoptRunChanges } from "../upkeep/upkeep.sql.ts";
import { readChangedPage, readRunningPage } from "./run-states.sql.ts";
import { newRuns } from "./runs.fixture.ts";
import { floorOf } from "./live-runs.rules.ts";

// A large organization with 6,000 runs that have ended and 2,000 that run, next to 500 with two of each. The connection has
// made its plans while the tables were empty.

const NIL = "00000000-0000-0000-0000-000000000000";
const LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff";
/** More often than PostgreSQL plans a kept statement for its values. */
const TIMES = 7;
const LIMIT = 100;

const counter = createReadCounter();
let control: Control;
let largeOrgId: string;
let slowId: string;

const execute = (db: Db, text: string, values: readonly unknown[] = []) => db.rows(testSql(text), values);

const runningPage = (after: { orgId: string; id: string }) => readRunningPage(control.db, { after, limit: LIMIT });
const changedPage = (since: string, after = { xid: String(floorOf(since)), id: NIL }) =>
  readChangedPage(control.db, { since, after, limit: LIMIT });
const snapshot = async (): Promise<string> => (await runningPage({ orgId: LAST, id: LAST })).snapshot;

/** Returns how many rows a page has, and how many blocks it fetched. */
async function costOf(page: () => Promise<{ rows: readonly unknown[] }>): Promise<{ rows: number; blocks: number }> {
  for (let i = 1; i < TIMES; i += 1) await page();
  let rows = 0;
  const { blocks } = await counter.readsOf(async () => {
    rows = (await page()).rows.length;
  });
  return { rows, blocks };
}

beforeAll(async () => {
  control = await startControl({ connectionsMax: 1, around: counter.around });
  await execute(control.ownerDb, "ALTER TABLE runs.runs SET (autovacuum_enabled = false)");
  for (let i = 0; i < TIMES; i += 1) await changedPage((await runningPage({ orgId: NIL, id: NIL })).snapshot);
  largeOrgId = randomUUID();
  await newRuns(control, largeOrgId, 3000, "finished");
  ({
    ids: [slowId = ""],
  } = await newRuns(control, largeOrgId, 1000));
  await execute(
    control.ownerDb,
    `WITH projects AS (
       INSERT INTO runs.projects (org_id, id, name, runs_running)
       SELECT gen_random_uuid(), gen_random_uuid(), 'project', 2 FROM generate_series(1, 500) RETURNING org_id, id
     )
     INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at)
     SELECT p.org_id, gen_random_uuid(), p.id, 'run', CASE WHEN n > 2 THEN 'running' ELSE 'failed' END, '{}', '{}', '{}',
            now(), now(), CASE WHEN n <= 2 THEN now() END
     FROM projects p, generate_series(1, 4) n`,
  );
  await newRuns(control, largeOrgId, 3000, "failed");
  await newRuns(control, largeOrgId, 1000);
});
afterAll(() => control.close());

const touchText = "UPDATE runs.runs SET stop_request_id = gen_random_uuid(), stop_state = 'requested' WHERE";
const touch = (where: string, values: readonly unknown[] = []) =>
  execute(control.ownerDb, `${touchText} ${where}`, values);

describe.each(["never analyzed, by plans of an empty database", "analyzed"])("in tables that were %s,", (state) => {
  beforeAll(async () => {
    if (state === "analyzed") await execute(control.ownerDb, "VACUUM ANALYZE runs.runs");
  });

  test.each([
    ["of small organizations", () => NIL],
    ["of the large one", () => largeOrgId],
  ])("a page of running runs %s reads a small multiple of them", async (_what, orgId) => {
    const { rows, blocks } = await costOf(() => runningPage({ orgId: orgId(), id: NIL }));
    expect(rows).toBe(LIMIT);
    expect(blocks).toBeLessThan(2 * LIMIT + 30);
  });

  test("the end of them is found immediately", async () => {
    const { rows, blocks } = await costOf(() => runningPage({ orgId: LAST, id: NIL }));
    expect(rows).toBe(0);
    expect(blocks).toBeLessThan(15);
  });

  test("changes that all happened in one transaction are read once, page after page", async () => {
    const since = await snapshot();
    await touch("status = 'running'");
    let after = { xid: String(floorOf(since)), id: NIL };
    let pages = 0;
    let rows = 0;
    const { blocks } = await counter.readsOf(async () => {
      for (let full = true; full; pages += 1) {
        const page = await changedPage(since, after);
        rows += page.rows.length;
        after = page.last ?? after;
        full = page.rows.length === LIMIT;
      }
    });
    expect([rows, pages]).toEqual([3000, 31]);
    expect(blocks).toBeLessThan(2 * rows + 30 * pages);
  });

  test("changes that the reader has are not read again while an older transaction is open", async () => {
    const writer = createDb({ url: control.url, role: "postgres", application: "control-test", connectionsMax: 1 });
    const held = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const work = writer.transaction(async (tx) => {
      await tx.rows(testSql(`${touchText} id = $1`), [slowId]);
      began.resolve();
      await held.promise;
    });
    try {
      await began.promise;
      await touch("status = 'running' AND id <> $1", [slowId]);
      const since = await snapshot();
      const cost = await costOf(() => changedPage(since));
      expect(cost.rows).toBe(0);
      // One look for each transaction that was open, also in other databases of the server; 3,000 runs have changed.
      const looks = 1 + since.split(",").length;
      expect(cost.blocks).toBeLessThan(10 + 6 * looks);
      held.resolve();
      await work;
      expect((await changedPage(since)).rows.map(({ id }) => id)).toEqual([slowId]);
    } finally {
      held.resolve();
      await work;
      await writer.close();
    }
  });
});

test("rows of another server are adopted by their keys", async () => {
  await execute(control.ownerDb, "UPDATE runs.runs SET changed_xid = '99999999999' WHERE status = 'failed'");
  const adopt = async () => ({ rows: Array.from({ length: await adoptRunChanges(control.workerDb, LIMIT) }) });
  const cost = await costOf(adopt);
  expect(cost.rows).toBe(LIMIT);
  // Each is written to all indexes of the table.
  expect(cost.blocks).toBeLessThan(60 * LIMIT);
});
