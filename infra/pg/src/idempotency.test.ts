import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { createTestDatabase, turnsDuring, type TestDatabase } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { composite, field } from "./binary-array.ts";
import { createDb, type Db } from "./db.ts";
import {
  fingerprint,
  idempotencyHashes,
  idempotencyHashesInTurns,
  withIdempotency,
  type IdempotentRequest,
} from "./idempotency.ts";
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

test("a large request has the same hashes in turns, and leaves some to others", async () => {
  const large: IdempotentRequest = { key: "k", route: "r", parts: ["a", bytes("x".repeat(40_000_000)), ""] };
  const { result, turns } = await turnsDuring(() => idempotencyHashesInTurns(large));
  expect(result).toEqual(idempotencyHashes(large));
  expect(turns).toBeGreaterThanOrEqual(2);
});

describe("withIdempotency", () => {
  test("the same key sent 30 times simultaneously has one effect and one reply", async () => {
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

  test("each organization has its own key space", async () => {
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

  test("a second sender waits three seconds for the first, then is told to retry", async () => {
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

  const ageRecords = async (by: string): Promise<void> => {
    for (const turn of [0, 1, 2]) {
      await asOwner(
        `UPDATE platform.idempotency_${turn} SET created_at = created_at - $2::interval WHERE org_id = $1`,
        [org, by],
      );
    }
  };

  test("a record older than seven days is forgotten", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("old"));
    await ageRecords("7 days 1 second");
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("new"))).toMatchObject({
      replayed: false,
    });
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("x"))).toMatchObject({
      replayed: true,
      reply: bytes("new"),
    });
  });

  test("a record of last week is still found this week", async () => {
    await withIdempotency(db, org, request("k"), nothing, async () => bytes("old"));
    const { now, before } = await turns();
    await asOwner(
      `WITH moved AS (DELETE FROM platform.idempotency_${now} WHERE org_id = $1 RETURNING *)
                   INSERT INTO platform.idempotency_${before} SELECT * FROM moved`,
      [org],
    );
    await ageRecords("6 days");
    expect(await withIdempotency(db, org, request("k"), nothing, async () => bytes("x"))).toMatchObject({
      replayed: true,
      reply: bytes("old"),
    });
  });
});

/** Which table takes this week's records, which last week's, and which the coming week's. */
async function turns(): Promise<{ now: number; before: number; coming: number }> {
  const [row] = await asOwner<{ now: number }>("SELECT platform.idempotency_turn(now()) AS now");
  const now = row?.now ?? -1;
  return { now, before: (now + 2) % 3, coming: (now + 1) % 3 };
}

describe("generations", () => {
  const turn = sql("test_turn", "SELECT platform.turn_generations() AS emptied");
  const count = async (table: number): Promise<number> =>
    (await asOwner<{ n: number }>(`SELECT count(*)::int AS n FROM platform.idempotency_${table}`))[0]?.n ?? -1;

  test("the table of the coming week is emptied whole, those in use are not touched", async () => {
    const { now, before, coming } = await turns();
    for (const table of [now, before, coming]) {
      await asOwner(
        `INSERT INTO platform.idempotency_${table} (org_id, key_hash, body_hash, reply)
         VALUES ($1, '\\x01', '\\x02', '\\x03')`,
        [org],
      );
    }
    const kept = [await count(now), await count(before)];
    const control = createDb({ url: database.url, role: "tidemark_control", application: "turn", connectionsMax: 1 });
    expect(await control.one(turn, [])).toEqual({ emptied: true });
    expect(await control.one(turn, [])).toEqual({ emptied: false });
    await control.close();
    expect(await count(coming)).toBe(0);
    expect([await count(now), await count(before)]).toEqual(kept);
  });

  test("three weeks in a row take three tables", async () => {
    const rows = await asOwner<{ turn: number }>(
      "SELECT platform.idempotency_turn(now() + n * interval '7 days') AS turn FROM generate_series(0, 2) n ORDER BY 1",
    );
    expect(rows.map((row) => row.turn)).toEqual([0, 1, 2]);
  });

  test("no other service may turn them", async () => {
    await expect(db.one(turn, [])).rejects.toThrow("permission denied");
  });
});

test("a fingerprint distinguishes two lists with the same joined text", () => {
  expect(fingerprint(["ab", "c"])).not.toEqual(fingerprint(["a", "bc"]));
  expect(fingerprint(["ab", "c"])).toEqual(fingerprint(["ab", "c"]));
});

describe("keys of many writes in one call", () => {
  const claim = sql(
    "test_claim_keys",
    'SELECT place, same_body AS "isSame", reply FROM platform.claim_keys($1, $2) ORDER BY place',
  );
  const keep = sql("test_keep_keys", "SELECT platform.keep_keys($1, $2)");
  const [a, b, c, body] = ["a", "b", "c", "body"].map((text) => fingerprint([text]));
  type Hash = Uint8Array | undefined;
  const recordType = composite<readonly [key: Hash, body: Hash, reply?: Uint8Array]>("platform.idempotency_record", {
    key: field.bytea(([key]) => key!),
    body: field.bytea(([, content]) => content!),
    reply: field.bytea(([, , reply = new Uint8Array()]) => reply),
  });
  const records = recordType.array;

  test("are all free, then kept, and then used", async () => {
    await db.withTenant(org, async (tx) => {
      expect(
        await tx.rows(claim, [
          org,
          records([
            [a, body],
            [b, body],
          ]),
        ]),
      ).toEqual([]);
      await tx.rows(keep, [
        org,
        records([
          [a, body, bytes("1")],
          [b, body, bytes("2")],
        ]),
      ]);
    });
    await db.withTenant(org, async (tx) => {
      expect(
        await tx.rows(claim, [
          org,
          records([
            [c, body],
            [b, c],
            [a, body],
          ]),
        ]),
      ).toEqual([
        { place: 2, isSame: false, reply: bytes("2") },
        { place: 3, isSame: true, reply: bytes("1") },
      ]);
    });
  });

  test("that were used one at a time are known, and the other way round", async () => {
    const single: IdempotentRequest = { key: "single", route: "r", parts: [] };
    const hashes = idempotencyHashes(single);
    await withIdempotency(db, org, single, nothing, async () => bytes("one"));
    await db.withTenant(org, async (tx) => {
      expect(await tx.rows(claim, [org, records([[hashes.key, hashes.body]])])).toEqual([
        { place: 1, isSame: true, reply: bytes("one") },
      ]);
    });
    const many: IdempotentRequest = { key: "many", route: "r", parts: [] };
    const { key, body: content } = idempotencyHashes(many);
    await db.withTenant(org, (tx) => tx.rows(keep, [org, records([[key, content, bytes("of many")]])]));
    expect(await withIdempotency(db, org, many, nothing, async () => bytes("x"))).toMatchObject({
      replayed: true,
      reply: bytes("of many"),
    });
  });

  test("that another transaction holds are named and not waited for", async () => {
    const held: IdempotentRequest = { key: "held", route: "r", parts: [] };
    const { key } = idempotencyHashes(held);
    await withIdempotency(db, org, held, nothing, async () => {
      await db.withTenant(org, async (tx) => {
        expect(
          await tx.rows(claim, [
            org,
            records([
              [a, body],
              [key, body],
              [c, body],
            ]),
          ]),
        ).toContainEqual({
          place: 2,
          isSame: null,
          reply: null,
        });
      });
      return bytes("x");
    });
  });

  test("that have expired are free, and kept again", async () => {
    await db.withTenant(org, (tx) => tx.rows(keep, [org, records([[c, body, bytes("old")]])]));
    for (const turn of [0, 1, 2]) {
      await asOwner(
        `UPDATE platform.idempotency_${turn} SET created_at = created_at - interval '8 days' WHERE org_id = $1`,
        [org],
      );
    }
    await db.withTenant(org, async (tx) => {
      expect(await tx.rows(claim, [org, records([[c, body]])])).toEqual([]);
      await tx.rows(keep, [org, records([[c, body, bytes("new")]])]);
    });
    await db.withTenant(org, async (tx) => {
      expect(await tx.rows(claim, [org, records([[c, body]])])).toMatchObject([{ reply: bytes("new") }]);
    });
  });
});
