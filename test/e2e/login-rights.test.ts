import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { migrationsOf, rolesOf } from "@tidemark/host";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { Client } from "pg";
import { createLogins, type Logins } from "../stack/logins.ts";

// What the database lets a compromised process do: with its own database URL, and every role that its user may become.

type Relation = { name: string; schema: string };

const SCHEMAS = [...new Set(allModules.flatMap(({ schema }) => schema ?? []))];
const modules = allModules.filter(({ schema }) => schema !== undefined);
const NOBODY = "00000000-0000-4000-8000-000000000000";
/** The schema that every service shares; row level security divides it by organization. */
const SHARED = "platform";

let database: TestDatabase;
let logins: Logins;
let owner: Client;
let relations: Relation[];

beforeAll(async () => {
  database = await createTestDatabase(migrationsOf(allModules));
  logins = await createLogins(database.url);
  owner = new Client({ connectionString: database.url });
  await owner.connect();
  const { rows } = await owner.query<Relation>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, n.nspname AS schema
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
     ORDER BY 1`,
  );
  relations = rows;
});
afterAll(async () => {
  await owner.end();
  await database.drop();
  await logins.drop();
});

/** Runs statements one after another in one session; returns the SQLSTATE of each, undefined for success. */
async function attempt(url: string, statements: readonly string[]): Promise<(string | undefined)[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const states: (string | undefined)[] = [];
  try {
    // Otherwise the policies fail while a statement is planned, before its rights are checked.
    await client.query(`SET app.org_id = '${NOBODY}'`);
    for (const statement of statements) {
      const state = await client.query(statement).then(
        () => undefined,
        (error: { code?: string }) => error.code ?? "unknown",
      );
      states.push(state);
    }
  } finally {
    await client.end();
  }
  return states;
}

/**
 * Tables under the declared views of other services that the reader's role may read too: such views run with the rights of their reader, so that
 * row level security shows it one organization there. Of other tables under views it may read some columns only.
 */
const UNDER_VIEWS: Readonly<Record<string, readonly string[]>> = {
  tidemark_runs: [
    "artifacts.run_counts",
    "ingest.metric_aggregate_pages",
    "ingest.metric_keys",
    "ingest.metric_runs",
    "ingest.project_points",
    "ingest.unindexed_runs",
  ],
  tidemark_usage: [
    "artifacts.storage",
    "imports.staged",
    "ingest.project_points",
    "ingest.rank_points",
    "traces.event_counts",
  ],
};

/** Functions that declared views and functions call with the rights of their reader. */
const UNDER_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  tidemark_runs: ["ingest.ask_sort_key_v1"],
  tidemark_usage: ["control.promised_seats", "runs.deleted_projects_v1", "runs.names_deleted_project_v1"],
};

/** Names that the modules of a schema may read in other schemas. */
const readsOf = (schema: string): Set<string> =>
  new Set(allModules.filter((module) => module.schema === schema).flatMap(({ reads = [] }) => reads));

describe.each(modules.map((module) => [module.name, module] as const))("the login of %s", (name, module) => {
  const own = rolesOf([module]);

  test("reads no table by itself", async () => {
    const states = await attempt(
      logins.urlOf(name)!,
      relations.map((relation) => `SELECT * FROM ${relation.name} LIMIT 0`),
    );
    expect(relations.length).toBeGreaterThan(40);
    expect(new Set(states)).toEqual(new Set(["42501"]));
  });

  test("becomes its own roles and no other", async () => {
    // Without what other tests make at this moment on the same server.
    const { rows } = await owner.query<{ role: string }>(
      "SELECT rolname AS role FROM pg_roles WHERE rolname !~ '^(tidemark_)?test_' OR rolname LIKE $1 ORDER BY 1",
      [`${new URL(logins.urlOf(name)!).username.split("_").slice(0, 2).join("_")}_%`],
    );
    const others = rows.map(({ role }) => role).filter((role) => !own.includes(role) && !isLoginOf(role, name));
    expect(others).toEqual(expect.arrayContaining(["postgres", "tidemark_definer"]));
    const states = await attempt(
      logins.urlOf(name)!,
      others.map((role) => `SET ROLE "${role}"`),
    );
    expect(new Set(states)).toEqual(new Set(["42501"]));
    expect(
      await attempt(
        logins.urlOf(name)!,
        own.map((role) => `SET ROLE ${role}`),
      ),
    ).toEqual(own.map(() => undefined));
  });

  test.each(own)(
    "as %s makes no function, operator or table, with which a condition could tell what it has seen",
    async (role) => {
      const schemas = [...SCHEMAS, SHARED, "public", "pg_temp"];
      const states = await attempt(logins.urlOf(name)!, [
        `SET ROLE ${role}`,
        ...schemas.flatMap((schema) => [
          `CREATE FUNCTION ${schema}.told(text) RETURNS boolean LANGUAGE sql COST 0.1 RETURN true`,
          `CREATE TABLE ${schema}.told (a integer)`,
        ]),
        "CREATE SCHEMA told",
      ]);
      expect(states).toEqual([undefined, ...states.slice(1).map(() => "42501")]);
    },
  );

  test.each(own)("as %s reads of other services what its modules declare, and nothing else", async (role) => {
    const reads = readsOf(module.schema!);
    const foreign = relations.filter(({ schema }) => schema !== module.schema && schema !== SHARED);
    const refused = foreign.filter((relation) => !reads.has(relation.name));
    const states = await attempt(logins.urlOf(name)!, [
      `SET ROLE ${role}`,
      ...refused.map((relation) => `SELECT * FROM ${relation.name} LIMIT 0`),
    ]);
    const opened = refused.filter((_, index) => states[index + 1] !== "42501").map((relation) => relation.name);
    expect([states[0], opened]).toEqual([undefined, UNDER_VIEWS[role] ?? []]);
    expect(new Set(refused.map(({ schema }) => schema)).size).toBe(SCHEMAS.length);
  });

  test.each(own)("as %s changes nothing of other services, and calls what its modules declare", async (role) => {
    const reads = readsOf(module.schema!);
    const { rows: writable } = await owner.query<Relation>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = ANY($2) AND n.nspname <> $3 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
         AND (has_table_privilege($1, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
           OR has_any_column_privilege($1, c.oid, 'INSERT, UPDATE, REFERENCES'))`,
      [role, [...SCHEMAS, "public"], module.schema],
    );
    expect(writable).toEqual([]);
    const { rows: callable } = await owner.query<{ name: string }>(
      `SELECT DISTINCT format('%s.%s', n.nspname, p.proname) AS name
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
       WHERE n.nspname = ANY($2) AND n.nspname <> $3 AND has_schema_privilege($1, n.oid, 'USAGE')
         AND has_function_privilege($1, p.oid, 'EXECUTE') AND p.prorettype <> 'trigger'::regtype
         -- Those compute something of their arguments alone.
         AND (p.prosecdef OR p.provolatile <> 'i') ORDER BY 1`,
      [role, SCHEMAS, module.schema],
    );
    expect(callable.map((row) => row.name).filter((called) => !reads.has(called))).toEqual(UNDER_FUNCTIONS[role] ?? []);
  });
});

/** `SET ROLE` to itself always works. */
function isLoginOf(role: string, module: string): boolean {
  return role === new URL(logins.urlOf(module)!).username;
}

describe("functions of the database", () => {
  type Pinned = { name: string; definer: boolean; path: string | null };
  const functions = async (): Promise<Pinned[]> => {
    const { rows } = await owner.query<Pinned>(
      `SELECT p.oid::regprocedure::text AS name, p.prosecdef AS definer,
         (SELECT substr(s, length('search_path=') + 1) FROM unnest(p.proconfig) s WHERE s LIKE 'search_path=%') AS path
       FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = ANY($1)`,
      [[...SCHEMAS, SHARED]],
    );
    return rows;
  };

  test("that run as their owner have a fixed search path", async () => {
    const definers = (await functions()).filter(({ definer }) => definer);
    expect(definers.length).toBeGreaterThan(20);
    expect(definers.filter(({ path }) => path === null)).toEqual([]);
  });

  test("with a fixed search path have temporary objects last in it", async () => {
    const pinned = (await functions()).filter(({ path }) => path !== null);
    expect(pinned.filter(({ path }) => !/(^|, )pg_temp$/.test(path!))).toEqual([]);
  });
});

test("the gateway has no database URL", () => {
  expect(logins.urlOf("gateway")).toBeUndefined();
});
