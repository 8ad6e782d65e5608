import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { underDeadline } from "@tidemark/work";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { createDb, type Db } from "../db.ts";
import { sql } from "../statement.ts";

const NOISY = "aaaaaaaa-0000-4000-8000-000000000001";
const QUIET = "bbbbbbbb-0000-4000-8000-000000000002";
const THIRD = "cccccccc-0000-4000-8000-000000000003";
const UNAVAILABLE = { reason: "warehouse_unavailable", retryAfterSeconds: 1 };

const sleep = sql("test_shared_sleep", "SELECT pg_sleep($1::float8)");
const one = sql("test_shared_one", "SELECT 1 AS one");
const timeout = sql(
  "test_shared_timeout",
  "SELECT setting::int4 AS ms FROM pg_settings WHERE name = 'statement_timeout'",
);

let database: TestDatabase;
let observer: pg.Client;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  observer = new pg.Client({ connectionString: database.url });
  await observer.connect();
  const url = new URL(database.url);
  url.searchParams.set("connect_timeout", "1");
  db = createDb({ url: url.href, role: "tidemark_runs", application: "shared", connectionsMax: 4 });
});
afterAll(async () => {
  await db.close();
  await observer.end();
  await database.drop();
});

const longRead = (org: string, seconds: number) => db.readTenant(org, (tx) => tx.rows(sleep, [seconds]));
const shortRead = (org: string) => db.readTenant(org, (tx) => tx.one(one, []));

async function sleeping(): Promise<number> {
  const { rows } = await observer.query(
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'shared' AND state = 'active' AND query LIKE '%pg_sleep%'",
  );
  return rows.length;
}

async function untilSleeping(count: number): Promise<void> {
  while ((await sleeping()) < count) await pause(10);
}

/** The most statements that sleep at a time until these have ended. The number depends on how late the database is. */
async function mostSleeping(statements: readonly Promise<unknown>[]): Promise<number> {
  let isOver = false;
  const ended = Promise.allSettled(statements).then(() => (isOver = true));
  let most = 0;
  while (!isOver) most = Math.max(most, await sleeping());
  await ended;
  expect(most).toBeGreaterThan(0);
  return most;
}

describe("while an organization asks for more than all connections", () => {
  test("the first request of another one begins immediately, and so do those that follow it", async () => {
    const long = Array.from({ length: 12 }, () => longRead(NOISY, 2).catch((error: unknown) => error));
    await untilSleeping(3);
    const waits: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const started = performance.now();
      await Promise.all([shortRead(QUIET), shortRead(THIRD)]);
      waits.push(performance.now() - started);
    }
    // Without shares each would wait for the end of a long one: 2 s, or 503 after 1 s.
    expect(Math.max(...waits)).toBeLessThan(500);
    expect(await sleeping()).toBe(3);
    const ended = await Promise.all(long);
    expect(ended.filter((end) => Array.isArray(end))).toHaveLength(3);
    for (const end of ended.filter((answer) => !Array.isArray(answer))) expect(end).toMatchObject(UNAVAILABLE);
  });

  test("it has half of them while others are there", async () => {
    await shortRead(QUIET);
    await shortRead(THIRD);
    const long = Array.from({ length: 4 }, () => longRead(NOISY, 0.4));
    expect(await mostSleeping(long)).toBeLessThanOrEqual(2);
  });
});

test("a statement without a transaction counts for the organization that asks for it", async () => {
  const statement = (orgId: string) => underDeadline(Date.now() + 5000, () => db.rows(sleep, [0.4]), { orgId });
  await shortRead(QUIET);
  await shortRead(THIRD);
  expect(await mostSleeping(Array.from({ length: 4 }, () => statement(NOISY)))).toBeLessThanOrEqual(2);
});

describe("a request", () => {
  test("waits for a connection no longer than its caller", async () => {
    const held = Array.from({ length: 4 }, () => longRead(NOISY, 0.7));
    await untilSleeping(1);
    const started = performance.now();
    await expect(underDeadline(Date.now() + 200, () => shortRead(NOISY))).rejects.toMatchObject({
      reason: "deadline_exceeded",
      retryAfterSeconds: 1,
    });
    expect(performance.now() - started).toBeLessThan(600);
    await Promise.allSettled(held);
    expect(db.stats().waiting).toBe(0);
  });

  test("whose time is over gets no connection and begins nothing", async () => {
    let began = false;
    const late = underDeadline(Date.now(), () =>
      db.withTenant(QUIET, async () => {
        began = true;
      }),
    );
    await expect(late).rejects.toMatchObject({ reason: "deadline_exceeded" });
    await expect(underDeadline(Date.now(), () => db.rows(one, []))).rejects.toMatchObject({
      reason: "deadline_exceeded",
    });
    expect(began).toBe(false);
  });
});

describe("a statement", () => {
  const inTime = [
    ["of a read", (work: Parameters<Db["readTenant"]>[1]) => db.readTenant(QUIET, work)],
    ["of a write", (work: Parameters<Db["readTenant"]>[1]) => db.withTenant(QUIET, work)],
    ["of no organization", (work: Parameters<Db["readTenant"]>[1]) => db.transaction(work)],
  ] as const;

  test.each(inTime)("%s ends in the database when its caller stops waiting", async (_, run) => {
    const started = performance.now();
    // The caller has left long before: it does not wait for this.
    const gone = underDeadline(Date.now() + 400, () => run((tx) => tx.rows(sleep, [20])));
    await expect(gone).rejects.toMatchObject({ reason: "deadline_exceeded", retryAfterSeconds: 1 });
    expect(performance.now() - started).toBeLessThan(2000);
    expect(await sleeping()).toBe(0);
  });

  test("late in its transaction has only what is left of the time, and none begins after it", async () => {
    const started = performance.now();
    const late = underDeadline(Date.now() + 1000, () =>
      db.readTenant(QUIET, async (tx) => {
        await tx.rows(sleep, [0.7]);
        await tx.rows(sleep, [20]);
      }),
    );
    await expect(late).rejects.toMatchObject({ reason: "deadline_exceeded" });
    expect(performance.now() - started).toBeLessThan(1600);
    const after = underDeadline(Date.now() + 200, () =>
      db.readTenant(QUIET, async (tx) => {
        await pause(300);
        await tx.rows(one, []);
      }),
    );
    await expect(after).rejects.toMatchObject({ reason: "deadline_exceeded" });
  });

  test("that has a limit of its own keeps it where the deadline is later, and says so when it is reached", async () => {
    const own = { statementMsMax: 100 };
    const read = underDeadline(Date.now() + 5000, () => db.readTenant(QUIET, (tx) => tx.rows(sleep, [20]), own));
    await expect(read).rejects.toMatchObject({ reason: "service_unavailable", cause: { code: "57014" } });
  });

  test("of a process itself, and of a stream of hours, has the limit of the pool, and so have later ones", async () => {
    const limit = () => db.readTenant(QUIET, (tx) => tx.one(timeout, []));
    expect(await limit()).toEqual({ ms: 15_000 });
    expect(await underDeadline(Date.now() + 3_600_000, limit)).toEqual({ ms: 15_000 });
    const bounded = (await underDeadline(Date.now() + 9000, limit)) as { ms: number };
    expect(bounded.ms).toBeGreaterThan(8000);
    expect(bounded.ms).toBeLessThanOrEqual(9000);
    expect(await limit()).toEqual({ ms: 15_000 });
  });
});
