import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createTestDatabase, until, untilEarlierWritesEnd, type TestDatabase } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { createDb, type Db } from "./db.ts";
import { beginRemovals, removalSql, removeDue, removeRows, type Removal } from "./removals.ts";
import { sql } from "./statement.ts";

let database: TestDatabase;
const pools: Db[] = [];
let runs: Db;
let ingest: Db;
let traces: Db;
let service: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (role: string) => {
    const db = createDb({ url: database.url, role, application: "test", connectionsMax: 3 });
    pools.push(db);
    return db;
  };
  runs = open("tidemark_runs_worker");
  ingest = open("tidemark_ingest_worker");
  traces = open("tidemark_traces_worker");
  service = open("tidemark_ingest");
});
afterAll(async () => {
  await Promise.all(pools.map((db) => db.close()));
  await database.drop();
});

async function asOwner(text: string): Promise<number | null> {
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  try {
    return (await owner.query(text)).rowCount;
  } finally {
    await owner.end();
  }
}

const xidSql = sql("test_take_xid", "SELECT pg_current_xact_id()::text AS xid");

async function beginOnly(
  ids: readonly string[],
  others: readonly string[],
): Promise<{ orgId: string; projectId: string }> {
  const [orgId, projectId] = [randomUUID(), randomUUID()];
  await runs.withTenant(orgId, (tx) =>
    beginRemovals(tx, { orgId, kind: "run", ids, projectId, owner: "runs", others }),
  );
  return { orgId, projectId };
}

/** As `beginOnly`, and no write is open that could delay the removal. */
async function begin(...args: Parameters<typeof beginOnly>): ReturnType<typeof beginOnly> {
  const place = await beginOnly(...args);
  await untilEarlierWritesEnd(runs);
  return place;
}

/** The removals that a service is asked for, and reports as done. */
async function removedBy(
  db: Db,
  name: string,
  remove: (removal: Removal) => Promise<boolean> = () => Promise.resolve(true),
): Promise<string[]> {
  const ids: string[] = [];
  await removeDue({ db, service: name, remove: (removal) => (ids.push(removal.id), remove(removal)) });
  return ids;
}

test("each service is asked until it is done, and the owner when the others are", async () => {
  const id = randomUUID();
  const { orgId, projectId } = await begin([id], ["ingest", "traces"]);
  expect(await removedBy(runs, "runs")).toEqual([]);
  const asked: Removal[] = [];
  const unfinished = await removeDue({
    db: ingest,
    service: "ingest",
    remove: (removal) => (asked.push(removal), Promise.resolve(false)),
  });
  expect([unfinished, asked]).toEqual([0, [expect.objectContaining({ orgId, kind: "run", id, projectId })]]);
  expect(await removedBy(ingest, "ingest")).toEqual([id]);
  expect(await removedBy(ingest, "ingest")).toEqual([]);
  expect(await removedBy(runs, "runs")).toEqual([]);
  expect(await removedBy(traces, "traces")).toEqual([id]);
  expect(await removedBy(runs, "runs")).toEqual([id]);
  for (const [db, name] of [
    [runs, "runs"],
    [ingest, "ingest"],
    [traces, "traces"],
  ] as const)
    expect(await removedBy(db, name)).toEqual([]);
});

test("nothing is removed while a write is open that began before", async () => {
  const id = randomUUID();
  let finish = () => {};
  const open = new Promise<void>((resolve) => (finish = resolve));
  let started = () => {};
  const writing = new Promise<void>((resolve) => (started = resolve));
  const write = service.transaction(async (tx) => {
    await tx.rows(xidSql, []);
    started();
    await open;
  });
  await writing;
  await beginOnly([id], ["ingest"]);
  expect(await removedBy(ingest, "ingest")).toEqual([]);
  finish();
  await write;
  await untilEarlierWritesEnd(runs);
  expect(await removedBy(ingest, "ingest")).toEqual([id]);
  expect(await removedBy(runs, "runs")).toEqual([id]);
});

test("one that fails stays, and keeps no other waiting", async () => {
  const [bad, good] = [randomUUID(), randomUUID()];
  await begin([bad], ["ingest"]);
  await begin([good], ["ingest"]);
  const fail = ({ id }: Removal) => (id === bad ? Promise.reject(new Error("not now")) : Promise.resolve(true));
  await expect(removedBy(ingest, "ingest", fail)).rejects.toThrow("1 removals failed");
  expect(await removedBy(runs, "runs")).toEqual([good]);
  expect(await removedBy(ingest, "ingest")).toEqual([bad]);
  expect(await removedBy(runs, "runs")).toEqual([bad]);
});

test("more than a page are all removed", async () => {
  const ids = Array.from({ length: 450 }, () => randomUUID()).toSorted();
  await begin(ids, []);
  expect(await removedBy(runs, "runs")).toEqual(ids);
});

test("only workers may ask what is to be removed", async () => {
  await expect(removeDue({ db: service, service: "ingest", remove: () => Promise.resolve(true) })).rejects.toThrow(
    /permission denied/,
  );
  await expect(
    ingest.withTenant(randomUUID(), (tx) =>
      beginRemovals(tx, {
        orgId: randomUUID(),
        kind: "run",
        ids: [],
        projectId: randomUUID(),
        owner: "runs",
        others: [],
      }),
    ),
  ).rejects.toThrow(/permission denied/);
});

test("rows that are changed in the meantime are removed too", async () => {
  await asOwner(`
    CREATE SCHEMA removed;
    CREATE TABLE removed.work (org_id uuid NOT NULL, claims integer NOT NULL);
    GRANT USAGE ON SCHEMA removed TO tidemark_ingest_worker;
    GRANT SELECT, INSERT, UPDATE, DELETE ON removed.work TO tidemark_ingest_worker;`);
  const orgId = randomUUID();
  const put = sql("test_put_work", "INSERT INTO removed.work VALUES ($1, 0), ($1, 0)");
  const claim = sql("test_claim_work", "UPDATE removed.work SET claims = claims + 1 WHERE org_id = $1");
  const left = sql("test_work_left", "SELECT FROM removed.work WHERE org_id = $1");
  const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const statement = removalSql("test_remove_work", "removed.work", "org_id = $2");
  await ingest.rows(put, [orgId]);
  let removal: Promise<void> | undefined;
  await ingest.transaction(async (tx) => {
    await tx.rows(claim, [orgId]);
    removal = removeRows(ingest, orgId, { statement, values: [orgId] });
    await until("the removal to wait for the claim", async () => (await asOwner(waiting))! > 0);
  });
  await removal;
  expect(await ingest.rows(left, [orgId])).toEqual([]);
});
