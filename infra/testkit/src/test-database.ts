import pg from "pg";
import { createHash, randomUUID } from "node:crypto";
import {
  migrate,
  platformMigrations,
  readMigrationFiles,
  type MigrationSet,
  createDb,
  type Db,
  sql,
  type Statement,
} from "@tidemark/pg";
import { until } from "./until.ts";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A migrated database for one test. */
export type TestDatabase = {
  /** postgres:// URL of the owner. */
  url: string;
  /** Drops the database and every connection to it. */
  drop(): Promise<void>;
};

const TEMPLATE_LOCK = 7_305_199_461;

const CONNECT_SECONDS = 60;

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** The same URL for callers that wait for a connection: on a busy machine PostgreSQL may take longer to accept one than a request waits. */
export function withPatience(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set("connect_timeout", String(CONNECT_SECONDS));
  return changed.href;
}

/** Returns the owner's URL of the server of this test run. */
export function testServerUrl(): string {
  const url = process.env["TIDEMARK_TEST_DATABASE_URL"];
  if (url === undefined) throw new Error("no PostgreSQL: run the tests through npm test");
  return url;
}

async function templateName(sets: readonly MigrationSet[]): Promise<string> {
  const hash = createHash("sha256");
  for (const set of sets) {
    for (const { name, sha256 } of await readMigrationFiles(set)) hash.update(`${set.schema}/${name}\0${sha256}\0`);
  }
  return `tidemark_template_${hash.digest("hex").slice(0, 16)}`;
}

/**
 * Makes a database with the shared schema and the given ones. The migrations of each distinct set run once, into a template;
 * every database is a copy of it.
 */
export async function createTestDatabase(sets: readonly MigrationSet[] = []): Promise<TestDatabase> {
  const server = testServerUrl();
  const all = [platformMigrations, ...sets];
  const template = await templateName(all);
  const name = `tidemark_test_${randomUUID().replaceAll("-", "")}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [TEMPLATE_LOCK]);
    const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [template]);
    if (rowCount === 0) {
      const making = `${template}_making`;
      await client.query(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${making}`);
      await migrate(withDatabase(server, making), all);
      await client.query(`ALTER DATABASE ${making} RENAME TO ${template}`);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
  return {
    url: withPatience(withDatabase(server, name)),
    drop: async () => {
      const dropper = new pg.Client({ connectionString: server });
      await dropper.connect();
      try {
        await dropper.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      } finally {
        await dropper.end();
      }
    },
  };
}

/** Declares a statement of a test. Its name is made from its text, because test files share a process, where a name may have one text. */
export function testSql(text: string): Statement {
  return sql(`test_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`, text);
}

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

const takeNumber = testSql("SELECT pg_current_xact_id()::text AS number");
const haveEnded = testSql("SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS ended");

/**
 * Waits until every transaction has ended that began to write before this call, in any database of the server: writes
 * of other test files delay code that waits for earlier writes.
 */
export async function untilEarlierWritesEnd(db: Pick<Db, "one">): Promise<void> {
  const taken = await db.one<{ number: string }>(takeNumber, []);
  await until(
    "earlier transactions to end",
    async () => (await db.one<{ ended: boolean }>(haveEnded, [taken?.number]))?.ended,
  );
}

/** Makes a folder for a PostgreSQL. Another account passes through it where the tests run as root: PostgreSQL 15 opens its folder by the full path. */
export async function makePostgresFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-test-postgres-"));
  await chmod(folder, 0o711);
  return folder;
}
