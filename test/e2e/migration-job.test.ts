import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { Client } from "pg";
import { startOwnPostgres, type OwnPostgres } from "../stack/server.ts";

// On a separate server, where the owner is not a superuser and no role exists yet, as on a hosted database.

const root = join(import.meta.dirname, "../..");
const withDatabase = allModules.filter(({ schema }) => schema !== undefined).map(({ name }) => name);

let postgres: OwnPostgres;
let ownerUrl: string;

function loginUrl(name: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = name;
  url.password = password;
  return url.href;
}

const environmentOf = (urls: ReadonlyMap<string, string>): Record<string, string> => ({
  TIDEMARK_OWNER_DATABASE_URL: ownerUrl,
  TIDEMARK_LOGIN_URLS: [...urls].map(([module, url]) => `${module}=${url}`).join(" "),
});

function migrate(settings: Record<string, string>) {
  return spawnSync(process.execPath, [join(root, "services/all/src/migrate.ts")], {
    env: { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", ...settings },
    encoding: "utf8",
  });
}

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  postgres = await startOwnPostgres();
  const password = randomBytes(16).toString("hex");
  const admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`CREATE ROLE hosted LOGIN CREATEROLE PASSWORD '${password}'`);
  await admin.query("CREATE DATABASE tidemark OWNER hosted");
  await admin.end();
  const url = new URL(postgres.url);
  [url.username, url.password, url.pathname] = ["hosted", password, "/tidemark"];
  ownerUrl = url.href;
});
afterAll(() => postgres.end());

describe("the migration job", () => {
  const urls = new Map<string, string>();
  test("says what it needs when it is given nothing", () => {
    const { status, stderr } = migrate({});
    expect(status).not.toBe(0);
    expect(stderr).toContain("TIDEMARK_OWNER_DATABASE_URL is not set");
  });

  test("migrates an empty database and creates the logins", async () => {
    for (const name of withDatabase) urls.set(name, loginUrl(`login_${name.replaceAll("-", "_")}`, `first-${name}`));
    const { status, stdout, stderr } = migrate(environmentOf(urls));
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("runs/baseline\n");
    for (const [name, url] of urls) {
      const schema = allModules.find((module) => module.name === name)!.schema;
      expect(await ask(url, `SET ROLE tidemark_${schema}`)).toEqual([]);
      await expect(ask(url, "SET ROLE hosted")).rejects.toMatchObject({ code: "42501" });
      await expect(ask(url, "SELECT * FROM control.users")).rejects.toMatchObject({ code: "42501" });
    }
  });

  test("does nothing the second time, but changes passwords", async () => {
    const before = urls.get("runs")!;
    urls.set("runs", loginUrl("login_runs", "second"));
    expect(migrate(environmentOf(urls))).toMatchObject({ status: 0, stdout: "nothing to do\n" });
    expect(await ask(urls.get("runs")!, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await expect(ask(before, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
  });

  test("leaves a login that has the owner's name alone, and fails", () => {
    const { status, stderr } = migrate(environmentOf(new Map([["runs", ownerUrl]])));
    expect(status).not.toBe(0);
    expect(stderr).toContain("a process needs a login role of its own");
  });
});
