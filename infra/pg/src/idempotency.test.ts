import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { createDb, type Db } from "./db.ts";
import { fingerprint, withIdempotency, type IdempotentRequest } from "./idempotency.ts";
import { sql } from "./statement.ts";

let database: TestDatabase;
let db: Db;
let org = "";
const bytes = (text: string): Uint8Array => Buffer.from(text);
const nothing = async (): Promise<void> => {};
const request = (key: string, body = "body"): IdempotentRequest => ({ key, route: "POST /x", parts: [body] });

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, role: "tidemark_ingest", application: "test", connectionsMax: 20 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(() => {
  org = randomUUID();
});

async function asOwner<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  try {
    return (await owner.query<T>(text, values)).rows;
  } finally {
    await owner.end();
  }
}

describe("withIdempotency", () => {
  test("the same key sent 30 times at once has one effect and one reply", async () => {
    let effects = 0;
    const replies = await Promise.all(
      Array.from({ length: 30 }, () =>
        withIdempotency(db, org, request("k"), nothing, async () => {
          effects += 1;
          return bytes("reply");
        }),
      ),
    );
    expect(effects).toBe(1);
    expect(replies.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(replies.every(({ reply }) => Buffer.from(reply).toString() === "reply")).toBe(true);
  });

  test("the same key with another body is refused and changes nothing", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("first"));
    await expect(
      withIdempotency(db, org, request("k", "other"), nothing, async () => bytes("second")),
    ).rejects.toMatchObject({ reason: "idempotency_key_reused" });
    const again = await withIdempotency(db, org, request("k"), nothing, async () => bytes("third"));
    expect(Buffer.from(again.reply).toString()).toBe("first");
  });

  test("the same key on another route is refused", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("first"));
    await expect(
      withIdempotency(db, org, { ...request("k"), route: "POST /y" }, nothing, async () => bytes("second")),
    ).rejects.toMatchObject({ reason: "idempotency_key_reused" });
  });

  test("a failed request burns nothing: its key works afterwards", async () => {
    await expect(
      withIdempotency(db, org, request("k"), nothing, async () => {
        throw new AppError("bad_request", "no");
      }),
    ).rejects.toMatchObject({ reason: "bad_request" });
    const { replayed } = await withIdempotency(db, org, request("k"), nothing, async () => bytes("ok"));
    expect(replayed).toBe(false);
  });

  test("organizations have key spaces of their own", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("a"));
    const other = await withIdempotency(db, randomUUID(), request("k"), nothing, async () => bytes("b"));
    expect(other).toMatchObject({ replayed: false });
  });

  test("visibility is checked before a stored reply is shown", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("secret"));
    const hidden = async (): Promise<void> => {
      throw new AppError("not_found", "run not found");
    };
    await expect(withIdempotency(db, org, request("k"), hidden, async () => bytes("x"))).rejects.toMatchObject({
      reason: "not_found",
    });
  });

  test("a second sender waits three seconds for the first, then is told to come back", async () => {
    let finish: (() => void) | undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    let begun: (() => void) | undefined;
    const started = new Promise<void>((resolve) => (begun = resolve));
    const first = withIdempotency(db, org, request("k"), nothing, async () => {
      begun?.();
      await held;
      return bytes("late");
    });
    await started;
    await expect(withIdempotency(db, org, request("k"), nothing, async () => bytes("x"))).rejects.toMatchObject({
      reason: "idempotency_in_progress",
      retryAfterSeconds: 1,
    });
    finish?.();
    await expect(first).resolves.toMatchObject({ replayed: false });
  });

  test("a record older than seven days is forgotten", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("old"));
    await asOwner("UPDATE platform.idempotency SET created_at = now() - interval '7 days 1 second' WHERE org_id = $1", [
      org,
    ]);
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("new"))).toMatchObject({
      replayed: false,
    });
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("x"))).toMatchObject({
      replayed: true,
      reply: bytes("new"),
    });
  });

  test("a record of last week's generation is still found this week", async () => {
    const [row] = await asOwner<{ generation: number }>("SELECT platform.generation_of(now()) - 1 AS generation");
    await asOwner(`CREATE TABLE IF NOT EXISTS platform.idempotency_${row?.generation} PARTITION OF platform.idempotency
                   FOR VALUES IN (${row?.generation})`);
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("old"));
    await asOwner("UPDATE platform.idempotency SET generation = generation - 1 WHERE org_id = $1", [org]);
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("x"))).toMatchObject({
      replayed: true,
    });
  });
});

describe("generations", () => {
  const names = async (): Promise<string[]> =>
    (
      await asOwner<{ name: string }>(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'platform.idempotency'::regclass",
      )
    ).map(({ name }) => name);

  test("those in which everything has expired are dropped whole", async () => {
    const [week] = await asOwner<{ now: number }>("SELECT platform.generation_of(now()) AS now");
    const old = (week?.now ?? 0) - 2;
    await asOwner(`CREATE TABLE platform.idempotency_${old} PARTITION OF platform.idempotency FOR VALUES IN (${old})`);
    const turn = sql("test_turn", "SELECT platform.turn_generations() AS dropped");
    const control = createDb({ url: database.url, role: "tidemark_control", application: "turn", connectionsMax: 1 });
    expect(await control.one(turn, [])).toEqual({ dropped: 1 });
    await control.close();
    expect(await names()).not.toContain(`platform.idempotency_${old}`);
    expect(await names()).toEqual(
      expect.arrayContaining([`platform.idempotency_${week?.now}`, `platform.idempotency_${(week?.now ?? 0) + 1}`]),
    );
  });

  test("no other service may turn them", async () => {
    const turn = sql("test_turn", "SELECT platform.turn_generations() AS dropped");
    await expect(db.one(turn, [])).rejects.toThrow("permission denied");
  });
});

test("a fingerprint tells two lists with the same joined text apart", () => {
  expect(fingerprint(["ab", "c"])).not.toEqual(fingerprint(["a", "bc"]));
  expect(fingerprint(["ab", "c"])).toEqual(fingerprint(["ab", "c"]));
});
