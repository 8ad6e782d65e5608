import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { createDb, type Db, type Tx } from "./db.ts";
import { sql } from "./statement.ts";

const ORG_A = "aaaaaaaa-0000-4000-8000-000000000001";
const ORG_B = "bbbbbbbb-0000-4000-8000-000000000002";

let database: TestDatabase;
let db: Db;

const insertNote = sql("test_insert_note", "INSERT INTO fenced.notes (org_id, body) VALUES ($1, $2)");
const allNotes = sql("test_all_notes", "SELECT body FROM fenced.notes ORDER BY body");
const deadlockUpdate = sql("test_touch", "UPDATE fenced.notes SET body = body WHERE body = $1");

beforeAll(async () => {
  database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(`
    CREATE SCHEMA fenced;
    CREATE TABLE fenced.notes (org_id uuid NOT NULL, body text NOT NULL, PRIMARY KEY (org_id, body));
    SELECT platform.fence('fenced.notes');
    GRANT USAGE ON SCHEMA fenced TO tidemark_runs;
    GRANT SELECT, INSERT, UPDATE ON fenced.notes TO tidemark_runs;`);
  await owner.end();
  db = createDb({ url: database.url, role: "tidemark_runs", application: "test", connectionsMax: 2 });
  await db.withTenant(ORG_A, (tx) => tx.rows(insertNote, [ORG_A, "a1"]));
  await db.withTenant(ORG_A, (tx) => tx.rows(insertNote, [ORG_A, "a2"]));
  await db.withTenant(ORG_B, (tx) => tx.rows(insertNote, [ORG_B, "b1"]));
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

describe("row level security", () => {
  test("a tenant transaction sees its own rows without any WHERE", async () => {
    expect(await db.withTenant(ORG_A, (tx) => tx.rows(allNotes, []))).toEqual([{ body: "a1" }, { body: "a2" }]);
    expect(await db.withTenant(ORG_B, (tx) => tx.rows(allNotes, []))).toEqual([{ body: "b1" }]);
  });

  test("a row of another organization cannot be written", async () => {
    await expect(db.withTenant(ORG_A, (tx) => tx.rows(insertNote, [ORG_B, "stray"]))).rejects.toThrow(
      "row-level security",
    );
  });

  test("a statement outside a tenant transaction fails loudly, on fresh and on used connections", async () => {
    for (let round = 0; round < 8; round += 1) {
      await expect(db.rows(allNotes, [])).rejects.toThrow(/app\.org_id|invalid input syntax for type uuid/);
    }
  });

  test("a pooled connection never carries one tenant's setting into another's transaction", async () => {
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const org = index % 2 === 0 ? ORG_A : ORG_B;
        const rows = await db.withTenant<{ body: string }[]>(org, (tx) => tx.rows(allNotes, []));
        return rows.every(({ body }) => body.startsWith(org === ORG_A ? "a" : "b"));
      }),
    );
    expect(seen.every(Boolean)).toBe(true);
  });

  test("the setting is gone after a failed transaction too", async () => {
    const nonsense = sql("test_nonsense", "SELECT 1 / 0");
    await expect(db.withTenant(ORG_A, (tx) => tx.rows(nonsense, []))).rejects.toThrow("division by zero");
    await expect(db.rows(allNotes, [])).rejects.toThrow(/app\.org_id|invalid input syntax/);
  });

  test("an invalid organization id never reaches SQL", async () => {
    expect(() => db.withTenant("x'; DROP TABLE fenced.notes; --", (tx) => tx.rows(allNotes, []))).toThrow(
      "needs an organization id",
    );
  });

  test("every table with an org_id has forced row level security", async () => {
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const { rows } = await owner.query(`
      SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE a.attname = 'org_id' AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`);
    await owner.end();
    expect(rows).toEqual([]);
  });
});

describe("transactions", () => {
  test("a deadlock is repeated instead of shown to the caller", async () => {
    let meet: (() => void) | undefined;
    const met = new Promise<void>((resolve) => (meet = resolve));
    let waiting = 0;
    const both = (first: string, second: string) =>
      db.withTenant(ORG_A, async (tx) => {
        await tx.rows(deadlockUpdate, [first]);
        waiting += 1;
        if (waiting === 2) meet?.();
        await met;
        await tx.rows(deadlockUpdate, [second]);
      });
    await expect(Promise.all([both("a1", "a2"), both("a2", "a1")])).resolves.toBeDefined();
  });

  test("whose connection ends between two statements are unavailable, and the process survives", async () => {
    const pid = sql("test_pid", "SELECT pg_backend_pid() AS pid");
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const cut = db.withTenant(ORG_A, async (tx) => {
      const row = await tx.one<{ pid: number }>(pid, []);
      await owner.query("SELECT pg_terminate_backend($1)", [row!.pid]);
      // No statement waits for an answer when the connection is found to have ended.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return tx.rows(allNotes, []);
    });
    await expect(cut).rejects.toMatchObject({ reason: "warehouse_unavailable" });
    await owner.end();
    expect(await db.withTenant(ORG_A, (tx) => tx.rows(allNotes, []))).toHaveLength(2);
  });

  test("a connection that the server ends is not used again", async () => {
    const one = createDb({ url: database.url, role: "tidemark_runs", application: "ended", connectionsMax: 1 });
    const owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    const endAll =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended' AND wait_event = 'PgSleep'";
    const sleep = sql("test_sleep_long", "SELECT pg_sleep(30)");
    const next = sql("test_next", "SELECT 1 AS one");
    for (let i = 0; i < 30; i += 1) {
      const cut = one.rows(sleep, []).catch((error: unknown) => error);
      while ((await owner.query(endAll)).rowCount === 0);
      expect(await cut).toMatchObject({ reason: "warehouse_unavailable" });
      expect(await one.rows(next, [])).toEqual([{ one: 1 }]);
    }
    await owner.end();
    await one.close();
  });

  test("a statement that takes too long is unavailable, not an internal error", async () => {
    const slow = createDb({
      url: database.url,
      role: "tidemark_runs",
      application: "slow",
      connectionsMax: 1,
      statementTimeoutMs: 50,
    });
    const sleep = sql("test_sleep", "SELECT pg_sleep(5)");
    await expect(slow.rows(sleep, [])).rejects.toMatchObject({ reason: "service_unavailable" });
    await slow.close();
  });

  test("a database that cannot be reached is warehouse_unavailable with a hint to retry", async () => {
    const nowhere = createDb({
      url: "postgres://x@127.0.0.1:1/x",
      role: "tidemark_runs",
      application: "nowhere",
      connectionsMax: 1,
    });
    const expected = { reason: "warehouse_unavailable", retryAfterSeconds: 1 };
    await expect(nowhere.rows(allNotes, [])).rejects.toMatchObject(expected);
    await expect(nowhere.withTenant(ORG_A, (tx) => tx.rows(allNotes, []))).rejects.toMatchObject(expected);
    expect(await nowhere.ping()).toBe(false);
    await nowhere.close();
  });

  test("how long a statement waits for a connection is in the URL, otherwise a second", async () => {
    const waits = async (url: string): Promise<number> => {
      const busy = createDb({ url, role: "tidemark_runs", application: "busy", connectionsMax: 1 });
      const held = Promise.withResolvers<void>();
      const holding = busy.withTenant(ORG_A, () => held.promise);
      const started = performance.now();
      await expect(busy.rows(allNotes, [])).rejects.toMatchObject({ reason: "warehouse_unavailable" });
      const waited = performance.now() - started;
      held.resolve();
      await holding;
      await busy.close();
      return waited;
    };
    const url = new URL(database.url);
    url.searchParams.set("connect_timeout", "2");
    expect(await waits(url.href)).toBeGreaterThanOrEqual(1990);
    url.searchParams.delete("connect_timeout");
    expect(await waits(url.href)).toBeGreaterThanOrEqual(990);
  });

  test("instants are returned as RFC 3339 with microseconds, 64-bit integers as numbers, JSON as its text", async () => {
    const values = sql(
      "test_values",
      `SELECT '2026-01-01T02:00:00.123456+02'::timestamptz AS at, '2026-01-01T00:00:00Z'::timestamptz AS whole,
              9007199254740991::int8 AS big, '{"seed": 12345678901234567890}'::json AS doc`,
    );
    expect(await db.one(values, [])).toEqual({
      at: "2026-01-01T00:00:00.123456Z",
      whole: "2026-01-01T00:00:00Z",
      big: 9007199254740991,
      doc: '{"seed": 12345678901234567890}',
    });
  });
});

test("two statements cannot share a name", () => {
  sql("test_once", "SELECT 1");
  expect(() => sql("test_once", "SELECT 2")).toThrow("share the name");
  expect(sql("t".repeat(63), "SELECT 3").name).toHaveLength(63);
  expect(() => sql("t".repeat(64), "SELECT 3")).toThrow("too long");
});

describe("a stream of rows", () => {
  async function* twice(tx: Tx) {
    yield tx.rows(allNotes, []);
    yield tx.rows(allNotes, []);
  }

  test("sees its organization at one moment, whenever its rows are taken", async () => {
    const rows = db.streamTenant(ORG_B, twice);
    expect((await rows.next()).value).toEqual([{ body: "b1" }]);
    await db.withTenant(ORG_B, (tx) => tx.rows(insertNote, [ORG_B, "b2"]));
    expect((await rows.next()).value).toEqual([{ body: "b1" }]);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
    expect(await db.withTenant(ORG_B, (tx) => tx.rows(allNotes, []))).toEqual([{ body: "b1" }, { body: "b2" }]);
  });

  test("gives its connection back when it is not read to its end, and when it fails", async () => {
    for (let round = 0; round < 5; round += 1) {
      for await (const rows of db.streamTenant(ORG_A, twice)) {
        expect(rows).toHaveLength(2);
        break;
      }
      const failing = db.streamTenant(ORG_A, async function* (tx) {
        yield tx.rows(insertNote, [ORG_A, "never"]);
      });
      await expect(failing.next()).rejects.toThrow("the database is not available");
    }
    expect(db.stats()).toMatchObject({ waiting: 0 });
    expect(db.stats().idle).toBe(db.stats().total);
    expect(await db.withTenant(ORG_A, (tx) => tx.rows(allNotes, []))).toHaveLength(2);
  });
});

describe("plans", () => {
  const settings = sql(
    "test_plan_settings",
    `SELECT current_setting('plan_cache_mode') AS mode, current_setting('enable_sort') AS sort,
            current_setting('enable_incremental_sort') AS incremental, current_setting('enable_seqscan') AS whole,
            current_setting('enable_hashjoin') || current_setting('enable_mergejoin') AS joins`,
  );
  const always = { whole: "off", joins: "offoff" };

  test.each([
    [undefined, { ...always, mode: "force_generic_plan", sort: "on", incremental: "on" }],
    ["walks", { ...always, mode: "force_generic_plan", sort: "off", incremental: "off" }],
    ["by values", { ...always, mode: "auto", sort: "off", incremental: "off" }],
  ] as const)("%s are what the transaction asks for, and nothing stays on the connection", async (plans, expected) => {
    const options = plans === undefined ? {} : { plans };
    expect(await db.readTenant(ORG_A, (tx) => tx.one(settings, []), options)).toEqual(expected);
    const after = { ...always, mode: "force_generic_plan", sort: "on", incremental: "on" };
    expect(await db.withTenant(ORG_A, (tx) => tx.one(settings, []))).toEqual(after);
  });
});
