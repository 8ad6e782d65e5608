import { createHash, randomUUID } from "node:crypto";
import { migrate, platformMigrations, readMigrationFiles, type MigrationSet } from "@tidemark/pg";
import pg from "pg";

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
