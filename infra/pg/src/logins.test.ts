import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, testServerUrl, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { prepareLogins, scramSecret } from "./logins.ts";

const name = `test_${randomBytes(6).toString("hex")}`;
let database: TestDatabase;
let other: TestDatabase;
let admin: pg.Client;

function loginUrl(of: string, user: string, password: string): string {
  const url = new URL(of);
  url.username = user;
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Logs in, runs one statement and returns its rows. */
async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  database = await createTestDatabase();
  other = await createTestDatabase();
  admin = new pg.Client({ connectionString: testServerUrl() });
  await admin.connect();
});
afterAll(async () => {
  await Promise.all([database.drop(), other.drop()]);
  const { rows } = await admin.query<{ rolname: string }>("SELECT rolname FROM pg_roles WHERE rolname LIKE $1", [
    `${name}%`,
  ]);
  for (const { rolname } of rows) await admin.query(`DROP ROLE ${rolname}`);
  await admin.end();
});

describe("a login role", () => {
  test("logs in with the password of its URL, with any characters", async () => {
    const password = "p'\"\\ä/@:%?# é";
    const url = loginUrl(database.url, `${name}_a`, password);
    await prepareLogins(database.url, [{ url, roles: ["tidemark_runs"] }]);
    expect(await ask(url, "SELECT current_user AS name")).toEqual([{ name: `${name}_a` }]);
    await expect(ask(loginUrl(database.url, `${name}_a`, "another"), "SELECT 1")).rejects.toMatchObject({
      code: "28P01",
    });
  });

  test("gets a new password, and loses the roles that it no longer needs", async () => {
    const before = loginUrl(database.url, `${name}_b`, "before");
    const after = loginUrl(database.url, `${name}_b`, "after");
    await prepareLogins(database.url, [{ url: before, roles: ["tidemark_runs", "tidemark_control"] }]);
    await prepareLogins(database.url, [{ url: after, roles: ["tidemark_runs"] }]);
    await expect(ask(before, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    expect(await ask(after, "SET ROLE tidemark_runs")).toEqual([]);
    await expect(ask(after, "SET ROLE tidemark_control")).rejects.toMatchObject({ code: "42501" });
  });

  test("has no attribute that opens more", async () => {
    const url = loginUrl(database.url, `${name}_c`, "c");
    await admin.query(`CREATE ROLE ${name}_c LOGIN`);
    await prepareLogins(database.url, [{ url, roles: ["tidemark_runs"] }]);
    const attributes =
      "SELECT rolinherit, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication FROM pg_roles";
    const { rows } = await admin.query(`${attributes} WHERE rolname = $1`, [`${name}_c`]);
    expect(Object.values(rows[0] as object)).toEqual([false, false, false, false, false, false]);
  });

  test("of one installation does not reach the database of another on the same server", async () => {
    const url = loginUrl(database.url, `${name}_d`, "d");
    const there = loginUrl(other.url, `${name}_e`, "e");
    await prepareLogins(database.url, [{ url, roles: ["tidemark_runs"] }]);
    await prepareLogins(other.url, [{ url: there, roles: ["tidemark_runs"] }]);
    await expect(ask(loginUrl(other.url, `${name}_d`, "d"), "SELECT 1")).rejects.toMatchObject({ code: "42501" });
    await expect(ask(loginUrl(database.url, `${name}_e`, "e"), "SELECT 1")).rejects.toMatchObject({ code: "42501" });
  });

  test("makes no temporary table", async () => {
    const url = loginUrl(database.url, `${name}_f`, "f");
    await prepareLogins(database.url, [{ url, roles: ["tidemark_runs"] }]);
    await expect(ask(url, "CREATE TEMPORARY TABLE t (a int)")).rejects.toMatchObject({ code: "42501" });
    await expect(ask(url, "SET ROLE tidemark_runs; CREATE TEMPORARY TABLE t (a int)")).rejects.toMatchObject({
      code: "42501",
    });
  });
});

test.each([
  ["the owner", () => database.url],
  ["no password", () => loginUrl(database.url, `${name}_x`, "")],
  ["a name that PostgreSQL would fold", () => loginUrl(database.url, "Runs", "x")],
])("%s is refused as a login, and nothing is created", async (_what, url) => {
  const made = loginUrl(database.url, `${name}_y`, "y");
  const both = [
    { url: made, roles: ["tidemark_runs"] },
    { url: url(), roles: ["tidemark_runs"] },
  ];
  await expect(prepareLogins(database.url, both)).rejects.toThrow(/login role/);
  const { rows } = await admin.query("SELECT FROM pg_roles WHERE rolname = $1", [`${name}_y`]);
  expect(rows).toHaveLength(0);
});

test("the verifier that is sent in place of a password is the one that PostgreSQL computes", async () => {
  const role = `${name}_${randomUUID().slice(0, 8)}`;
  await admin.query(`CREATE ROLE ${role} PASSWORD 'pencil'`);
  const { rows } = await admin.query<{ secret: string }>(
    "SELECT rolpassword AS secret FROM pg_authid WHERE rolname = $1",
    [role],
  );
  const salt = Buffer.from(/^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(rows[0]!.secret)![1]!, "base64");
  expect(scramSecret("pencil", salt)).toBe(rows[0]!.secret);
});
