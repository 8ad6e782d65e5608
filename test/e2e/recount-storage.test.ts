import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { migrationsOf } from "@tidemark/host";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { Client } from "pg";
import { createLogins, type Logins } from "../stack/logins.ts";

// With the login of the usage service, which an operator gives it.

const command = join(import.meta.dirname, "../../services/all/src/recount-storage.ts");
const orgId = randomUUID();

let database: TestDatabase;
let logins: Logins;
let owner: Client;
beforeAll(async () => {
  database = await createTestDatabase(migrationsOf(allModules));
  logins = await createLogins(database.url);
  owner = new Client({ connectionString: database.url });
  await owner.connect();
  await owner.query(
    `INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit)
     VALUES ($1, 'acme', 'Acme', 'free', 'free_active', 'business', 2)`,
    [orgId],
  );
  await owner.query("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $1, 'twelve bytes')", [orgId]);
});
afterAll(async () => {
  await owner.end();
  await database.drop();
  await logins.drop();
});

function recount(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    env: { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1", TIDEMARK_DATABASE_URL: logins.urlOf("usage") },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("the command says where counters differ from the rows, and corrects them when it is asked to", async () => {
  const fine = { status: 0, stdout: "the counters are those of the rows\n", stderr: "" };
  expect(recount()).toEqual(fine);
  await owner.query("SELECT platform.add_stored($1, 'documents', 100), platform.add_stored($1, 'logs', -5)", [orgId]);
  const drifts = [
    `acme (${orgId}) logs: counted -5, stored 0, off by -5`,
    `acme (${orgId}) documents: counted 112, stored 12, off by 100`,
  ];
  const found = {
    ...fine,
    status: 1,
    stdout: [...drifts, "2 counters differed; --repair corrects them", ""].join("\n"),
  };
  expect(recount()).toEqual(found);
  expect(recount()).toEqual(found);
  expect(recount("--repair")).toEqual({
    ...fine,
    stdout: [...drifts, "2 counters differed and were corrected", ""].join("\n"),
  });
  expect(recount()).toEqual(fine);
});

test("the command needs the URL of a database, and knows its options", () => {
  expect(recount("--wrong").status).toBe(1);
  const { status, stderr } = spawnSync(process.execPath, [command], {
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([1, expect.stringContaining("TIDEMARK_DATABASE_URL is not set")]);
});
