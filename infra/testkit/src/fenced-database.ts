import { randomUUID } from "node:crypto";
import { createDb, migrate, type Db, type MigrationSet } from "@tidemark/pg";
import { createTestDatabase, testServerUrl } from "./test-database.ts";
import { testSql } from "./test-sql.ts";

/** A database whose owner is under row level security, as the owners of hosted databases are. */
export type FencedDatabase = {
  /** The pool of the superuser, which sees all rows. */
  readonly admin: Db;
  /** The URL of a login role that may become every other role. */
  readonly url: string;
  readonly ownerRole: string;
  /** Brings the database up to these migrations, as its owner. */
  migrate(sets: readonly MigrationSet[]): Promise<void>;
  drop(): Promise<void>;
};

const server = () => createDb({ url: testServerUrl(), role: "postgres", application: "test", connectionsMax: 1 });

async function asServer(...statements: string[]): Promise<void> {
  const db = server();
  for (const statement of statements) await db.rows(testSql(statement), []);
  await db.close();
}

const serviceRoles = testSql(
  "SELECT rolname AS role FROM pg_roles WHERE rolname LIKE 'tidemark\\_%' AND NOT rolcanlogin",
);

/** Creates an empty database of this kind. */
export async function createFencedDatabase(): Promise<FencedDatabase> {
  // Makes the roles, in case this is the first database of its server.
  await (await createTestDatabase()).drop();
  const name = `tidemark_test_${randomUUID().replaceAll("-", "")}`;
  const ownerRole = `${name}_owner`;
  const db = server();
  const roles = (await db.rows<{ role: string }>(serviceRoles, [])).map(({ role }) => role);
  await db.close();
  await asServer(
    `CREATE ROLE ${ownerRole} LOGIN CREATEROLE NOSUPERUSER NOBYPASSRLS INHERIT`,
    `GRANT ${roles.join(", ")} TO ${ownerRole}`,
    `CREATE DATABASE ${name} OWNER ${ownerRole}`,
  );
  const url = new URL(testServerUrl());
  url.pathname = `/${name}`;
  const asOwner = new URL(url);
  asOwner.searchParams.set("options", `-c role=${ownerRole}`);
  const admin = createDb({ url: url.href, role: "postgres", application: "test", connectionsMax: 1 });
  return {
    admin,
    url: url.href,
    ownerRole,
    migrate: async (sets) => void (await migrate(asOwner.href, sets)),
    drop: async () => {
      await admin.close();
      await asServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`, `DROP ROLE ${ownerRole}`);
    },
  };
}
