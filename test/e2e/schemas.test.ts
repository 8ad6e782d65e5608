import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { platformMigrations } from "@tidemark/pg";
import { createFencedDatabase, type FencedDatabase, testSql } from "@tidemark/testkit";

// All schemas, made by an owner whom row level security holds, as the owners of hosted databases are.
let database: FencedDatabase;
beforeAll(async () => {
  database = await createFencedDatabase();
  await database.migrate([platformMigrations, ...allModules.flatMap(({ migrations }) => migrations ?? [])]);
});
afterAll(() => database.drop());

const rows = <Row>(text: string): Promise<Row[]> => database.admin.rows<Row>(testSql(text), []);

test("the rows of organizations are fenced, from the owner too", async () => {
  const tables = await rows<{ name: string; fenced: boolean; forced: boolean }>(
    `SELECT c.oid::regclass::text AS name, c.relrowsecurity AS fenced, c.relforcerowsecurity AS forced
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
     WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text NOT LIKE 'pg\\_%' ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(60);
  const named = (passes: (table: (typeof tables)[number]) => boolean) => tables.filter(passes).map(({ name }) => name);
  // Both are looked up by what a credential says, before the organization is known.
  expect(named(({ fenced }) => !fenced)).toEqual(["control.device_logins", "control.one_time_tokens"]);
  // Its owner is a role that no request runs as, and that searches read it as.
  expect(named(({ fenced, forced }) => fenced && !forced)).toEqual(["runs.run_texts"]);
});

test("only the owner can create anything in a schema", async () => {
  const creators = await rows<{ schema: string; role: string }>(
    `SELECT n.nspname AS schema, r.rolname AS role FROM pg_namespace n CROSS JOIN pg_roles r
     WHERE has_schema_privilege(r.oid, n.oid, 'CREATE') AND (r.rolname LIKE 'tidemark\\_%' AND NOT r.rolcanlogin)`,
  );
  expect(creators).toEqual([]);
});
