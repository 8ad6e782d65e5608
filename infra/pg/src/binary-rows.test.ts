import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { createDb, type Db } from "./db.ts";
import { binarySql, sql } from "./statement.ts";

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

describe("a statement with binary rows", () => {
  const columns = `true AS yes, false AS no, 1::int2 AS small, -70000 AS whole, 9007199254740991::int8 AS large,
    -0.1::float8 AS number, 'NaN'::float8 AS nan, 'naïve 😀'::text AS text,
    '0c9b7a52-1f0e-4b3c-9d2e-5a6f7b8c9d0e'::uuid AS id, NULL::bytea AS nothing, ''::bytea AS empty`;

  test("gives the values that its text would", async () => {
    const [binary] = await db.rows(binarySql("test_binary_values", `SELECT ${columns}`), []);
    const [text] = await db.rows(sql("test_text_values", `SELECT ${columns}`), []);
    expect(binary).toEqual(text);
  });

  test("gives every byte of long columns, in rows that arrive in many pieces", async () => {
    const sent = Array.from({ length: 40 }, (_, i) => randomBytes(i * 9973));
    const echo = binarySql(
      "test_binary_echo",
      "SELECT n, bytes FROM unnest($1::bytea[]) WITH ORDINALITY AS u (bytes, n)",
    );
    const rows = await db.rows<{ n: number; bytes: Buffer }>(echo, [sent]);
    expect(rows.map(({ n }) => n)).toEqual(sent.map((_, i) => i + 1));
    rows.forEach(({ bytes }, i) => expect(bytes.equals(sent[i]!)).toBe(true));
  });

  test("leaves the rows of others on its connection as they are", async () => {
    const one = binarySql("test_binary_one", "SELECT 1 AS n, '\\xff00'::bytea AS bytes");
    const other = sql("test_text_between", "SELECT 1 AS n, '\\xff00'::bytea AS bytes, now() AS at");
    for (let round = 0; round < 3; round++) {
      expect(await db.one(one, [])).toEqual({ n: 1, bytes: Buffer.from([255, 0]) });
      expect(await db.one(other, [])).toMatchObject({
        n: 1,
        bytes: Buffer.from([255, 0]),
        at: expect.stringMatching(/Z$/),
      });
    }
  });

  test("reports its errors like any other, and the connection stays usable", async () => {
    await expect(db.rows(binarySql("test_binary_error", "SELECT 1 / $1::int AS n"), [0])).rejects.toThrow(
      "division by zero",
    );
    expect(await db.one(binarySql("test_binary_after", "SELECT 2 AS n"), [])).toEqual({ n: 2 });
  });

  test("hands on its rows one by one, each byte of them while it is held", async () => {
    const sent = Array.from({ length: 40 }, (_, i) => randomBytes(i * 9973));
    const echo = binarySql(
      "test_binary_echo",
      "SELECT n, bytes FROM unnest($1::bytea[]) WITH ORDINALITY AS u (bytes, n)",
    );
    const seen: boolean[] = [];
    const take = ({ n, bytes }: { n: number; bytes: Buffer }) => void (seen[n - 1] = bytes.equals(sent[n - 1]!));
    await db.each(echo, [sent], take);
    expect(seen).toEqual(sent.map(() => true));
    await db.transaction((tx) => tx.each(echo, [sent.slice(0, 2)], ({ n }: { n: number }) => seen.push(n === 1)));
    expect(seen.slice(sent.length)).toEqual([true, false]);
    expect(db.stats()).toMatchObject({ total: 1, idle: 1 });
  });

  test("passes on no more rows when one of them is refused, reports why, and the connection stays usable", async () => {
    const three = binarySql("test_binary_three", "SELECT n FROM generate_series(1, 3) AS s (n)");
    const seen: number[] = [];
    const refuse = ({ n }: { n: number }) => {
      seen.push(n);
      if (n === 2) throw new Error("not this one");
    };
    await expect(db.each(three, [], refuse)).rejects.toThrow("not this one");
    expect(seen).toEqual([1, 2]);
    await db.each(three, [], ({ n }: { n: number }) => seen.push(n));
    expect(seen.slice(2)).toEqual([1, 2, 3]);
  });

  test("that fails half way is reported like any other when its rows are passed on", async () => {
    const half = binarySql("test_binary_half", "SELECT 6 / (3 - n) AS n FROM generate_series(1, 4) AS s (n)");
    const seen: number[] = [];
    await expect(db.each(half, [], ({ n }: { n: number }) => seen.push(n))).rejects.toThrow("division by zero");
    expect(seen).toEqual([3, 6]);
    expect(await db.one(binarySql("test_binary_after", "SELECT 2 AS n"), [])).toEqual({ n: 2 });
  });

  test("refuses a type that it cannot read", async () => {
    await expect(db.rows(binarySql("test_binary_type", "SELECT now() AS at"), [])).rejects.toThrow("no binary form");
    expect(await db.one(binarySql("test_binary_after", "SELECT 2 AS n"), [])).toEqual({ n: 2 });
  });
});
