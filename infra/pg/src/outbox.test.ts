import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, until, type TestDatabase } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { createDb, type Db } from "./db.ts";
import { putOutbox, startRelay, type Relay, type RelayedMessage } from "./outbox.ts";
import { sql } from "./statement.ts";

let database: TestDatabase;
let db: Db;
let worker: Db;
const relays: Relay[] = [];
const ageMessages = sql("test_age_outbox", "UPDATE platform.outbox SET created_at = now() - interval '90 seconds'");
const left = sql("test_outbox_left", "SELECT count(*)::int AS n FROM platform.outbox");

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, role: "tidemark_control", application: "test", connectionsMax: 4 });
  worker = createDb({ url: database.url, role: "tidemark_control_worker", application: "test", connectionsMax: 2 });
});
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});
afterAll(async () => {
  await db.close();
  await worker.close();
  await database.drop();
});

const message = (text: string) => ({
  service: "control",
  subject: "tidemark.control.test.v1",
  payload: Buffer.from(text),
  headers: { a: "b" },
});

const empty = async () => (await worker.one<{ n: number }>(left, []))?.n === 0;

describe("the outbox relay", () => {
  test("publishes what was committed, in order, and nothing of a transaction that failed", async () => {
    const org = randomUUID();
    const sent: string[] = [];
    for (const text of ["1", "2", "3"]) {
      await db.withTenant(org, (tx) => putOutbox(tx, org, message(text)));
    }
    await expect(
      db.withTenant(org, async (tx) => {
        await putOutbox(tx, org, message("never"));
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    relays.push(
      startRelay({
        db: worker,
        service: "control",
        publish: async (out: RelayedMessage) => void sent.push(Buffer.from(out.payload).toString()),
        onError: () => {},
        tickMs: 60_000,
      }),
    );
    await until("an empty outbox", empty);
    expect(sent).toEqual(["1", "2", "3"]);
  });

  test("keeps what the bus refuses and sends it with the same id later", async () => {
    const org = randomUUID();
    const ids: string[] = [];
    let down = true;
    const relay = startRelay({
      db: worker,
      service: "control",
      publish: async (out) => {
        ids.push(out.id);
        if (down) throw new Error("no bus");
      },
      onError: () => {},
      tickMs: 60_000,
    });
    relays.push(relay);
    await db.withTenant(org, (tx) => putOutbox(tx, org, message("x")));
    relay.wake();
    // The first round may still be on its way when the message arrives, and then there are two.
    await until("a first delivery", () => ids.length > 0);
    expect(await empty()).toBe(false);
    down = false;
    await until("an empty outbox", () => {
      relay.wake();
      return empty();
    });
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });

  test("returns the age of the oldest waiting message, and zero when none waits", async () => {
    const org = randomUUID();
    const lags: number[] = [];
    await db.withTenant(org, (tx) => putOutbox(tx, org, message("old")));
    await worker.rows(ageMessages, []);
    const relay = startRelay({
      db: worker,
      service: "control",
      publish: async () => {},
      onError: () => {},
      onLag: (seconds) => lags.push(seconds),
      tickMs: 60_000,
    });
    relays.push(relay);
    await until("the age of the oldest message", () => lags.length > 0);
    expect(lags[0]).toBeGreaterThanOrEqual(90);
    await until("an age of zero", () => {
      relay.wake();
      return lags.at(-1) === 0;
    });
  });

  test("of two relays one sends each message", async () => {
    const org = randomUUID();
    const sent: string[] = [];
    const start = () =>
      startRelay({
        db: worker,
        service: "control",
        publish: async (out) => void sent.push(out.id),
        onError: () => {},
        tickMs: 60_000,
      });
    await db.withTenant(org, async (tx) => {
      for (let index = 0; index < 40; index += 1) {
        await putOutbox(tx, org, message(String(index)));
      }
    });
    relays.push(start(), start());
    await until("an empty outbox", empty);
    expect(sent).toHaveLength(40);
    expect(new Set(sent).size).toBe(40);
  });

  test("reads the messages that it takes, not all that wait", async () => {
    const fill = sql(
      "test_fill_outbox",
      `INSERT INTO platform.outbox (org_id, id, service, subject, payload)
       SELECT gen_random_uuid(), gen_random_uuid(), 'control', 'many', '' FROM generate_series(1, 1000)`,
    );
    const entries = sql(
      "test_outbox_entries",
      `SELECT sum(pg_stat_get_xact_tuples_returned(c.oid))::int8 AS n FROM pg_class c
       WHERE c.relname ~ '^outbox' AND c.relnamespace = 'platform'::regnamespace`,
    );
    const owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
    await owner.rows(fill, []);
    await owner.close();
    const read: number[] = [];
    const counting: Db = {
      ...worker,
      rows: (statement, values) =>
        worker.transaction(async (tx) => {
          const before = (await tx.one<{ n: number }>(entries, []))!.n;
          const rows = await tx.rows<never>(statement, values);
          const after = (await tx.one<{ n: number }>(entries, []))!.n;
          if (rows.length === 100) read.push(after - before);
          return rows;
        }),
    };
    relays.push(
      startRelay({ db: counting, service: "control", publish: async () => {}, onError: () => {}, tickMs: 60_000 }),
    );
    await until("an empty outbox", empty);
    expect(read).toHaveLength(10);
    // Each is found in order and looked up by its key. Later claims may read rows that earlier ones left behind.
    expect(read[0]).toBeLessThan(300);
  });
});
