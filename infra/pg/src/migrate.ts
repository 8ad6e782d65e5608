import pg from "pg";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The result of `migrate`: `<schema>/<name>` of each file applied now, in order; the baseline of a schema is `<schema>/baseline`. */
export type MigrationReport = { applied: string[] };

type Connection = Pick<pg.Client, "query">;

// Any number, but the same in every Tidemark.
const LOCK = 7_305_199_460;

const LEDGER = `
CREATE TABLE IF NOT EXISTS public.tidemark_migrations (
  schema_name text NOT NULL,
  file_name text NOT NULL,
  sha256 text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (schema_name, file_name)
)`;

async function applySet(client: Connection, set: MigrationSet, report: MigrationReport): Promise<void> {
  const { rows } = await client.query<{ file_name: string; sha256: string }>(
    "SELECT file_name, sha256 FROM public.tidemark_migrations WHERE schema_name = $1",
    [set.schema],
  );
  const done = new Map(rows.map((row) => [row.file_name, row.sha256]));
  const files = await readMigrationFiles(set);
  const unknown = [...done.keys()].filter((name) => !files.some((file) => file.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `the database was written by a newer Tidemark (it has ${set.schema}/${unknown[0]}); start that version`,
    );
  }
  for (const { name, text, sha256 } of files) {
    const before = done.get(name);
    if (before === sha256) continue;
    if (before !== undefined)
      throw new Error(`${set.schema}/${name} was changed after it had been applied${hintOf(name)}`);
    await client.query("BEGIN");
    try {
      await client.query("SET LOCAL lock_timeout = '2s'");
      await client.query(text);
      await client.query(
        "INSERT INTO public.tidemark_migrations (schema_name, file_name, sha256) VALUES ($1, $2, $3)",
        [set.schema, name, sha256],
      );
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK");
      throw new Error(`${set.schema}/${name} failed: ${(error as Error).message}`, { cause: error });
    }
    report.applied.push(`${set.schema}/${name}`);
  }
}

// Only a development database has another baseline than its code, because a release freezes it.
const hintOf = (name: string): string =>
  name === "baseline" ? ": start with an empty database (npm start -- --fresh deletes the local one)" : "";

/**
 * Brings the database up to date, each file in its own transaction. Several processes may start
 * simultaneously: one holds a session lock, the others wait and have nothing left to do.
 * @throws Error if a file was changed after it had been applied, or if the database is newer.
 */
export async function migrate(ownerUrl: string, sets: readonly MigrationSet[]): Promise<MigrationReport> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: "tidemark-migrate" });
  // The running statement, or the next one, fails with the same error.
  client.on("error", () => {});
  await client.connect();
  const report: MigrationReport = { applied: [] };
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query(LEDGER);
    for (const set of sets) {
      await applySet(client, set, report);
      await planForLargeOwners(client, set.schema);
    }
    return report;
  } finally {
    await client.end();
  }
}

/** The schema that every service shares: roles, idempotency records, outbox. Applied before all others. */
export const platformMigrations: MigrationSet = {
  schema: "platform",
  directory: import.meta.dirname,
};

/**
 * The SQL of one schema. Its folder has what a new database starts with (`baseline.sql`, or `schema.sql` until the first release) and,
 * in `migrations`, files `NNNN_<what>.sql`, which are applied in the order of their names.
 */
export type MigrationSet = { schema: string; directory: string };

/** One file of a set. `name` is its name in the database: the first one is always `baseline`. */
export type MigrationFile = { name: string; text: string; sha256: string };

const MIGRATION = /^\d{4}_[a-z0-9_]+\.sql$/;

/** Returns the names of the files in a folder, or none if the folder is missing. */
async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Returns whether the baseline of a schema is frozen: from then on its schema.sql is generated, and only migrations change the schema. */
export async function isFrozen({ directory }: MigrationSet): Promise<boolean> {
  return (await namesIn(directory)).includes("baseline.sql");
}

/** Returns the files of a set in the order in which they are applied. */
export async function readMigrationFiles(set: MigrationSet): Promise<readonly MigrationFile[]> {
  const start = (await isFrozen(set)) ? "baseline.sql" : "schema.sql";
  const migrations = (await namesIn(join(set.directory, "migrations"))).filter((name) => MIGRATION.test(name)).sort();
  const files = [
    { name: "baseline", path: join(set.directory, start) },
    ...migrations.map((name) => ({ name, path: join(set.directory, "migrations", name) })),
  ];
  return Promise.all(
    files.map(async ({ name, path }) => {
      const text = await readFile(path, "utf8");
      return { name, text, sha256: createHash("sha256").update(text).digest("hex") };
    }),
  );
}

/**
 * How many different values PostgreSQL must assume in the columns that identify a row's owner, regardless of the data. A plan that does not depend on
 * values is made for the average owner, and among thousands of small organizations that one has a handful of rows: reading all of them and sorting
 * them looks as good as a walk of the right index, and joining them all as good as looking up a few. With these numbers each plan is made for an
 * organization with a tenth of all rows and a project with a hundredth: right for large ones, and small ones have few rows in any case. Not for one with
 * all rows, because then an index that does not begin with the organization would look as good as one that does.
 */
const ASSUMED_VALUES = { org_id: 10, project_id: 100 } as const;

const setMissing = `
  DO $$
  DECLARE
    c record;
  BEGIN
    FOR c IN
      SELECT t.oid::regclass AS name, t.reltuples > 0 AS filled, a.attname AS owner, o.assumed
      FROM pg_class t
      JOIN pg_attribute a ON a.attrelid = t.oid AND NOT a.attisdropped
      JOIN (VALUES ${Object.entries(ASSUMED_VALUES)
        .map(([column, values]) => `('${column}', ${values})`)
        .join(", ")}) AS o (column_name, assumed) ON o.column_name = a.attname
      WHERE t.relkind IN ('r', 'p') AND t.relnamespace = to_regnamespace('%SCHEMA%')
        AND NOT coalesce(a.attoptions, '{}') @> ARRAY['n_distinct=' || o.assumed]
    LOOP
      EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET (n_distinct = %s)', c.name, c.owner, c.assumed);
      IF c.filled THEN
        EXECUTE format('ANALYZE %s (%I)', c.name, c.owner);
      END IF;
    END LOOP;
  END
  $$`;

const SCHEMA = /^[a-z_]{1,63}$/;

/** Makes PostgreSQL plan for large organizations and projects in all tables of a schema that have an owner. Does nothing where this is already set. */
async function planForLargeOwners(client: Pick<pg.Client, "query">, schema: string): Promise<void> {
  if (!SCHEMA.test(schema)) throw new Error(`not a schema name: ${schema}`);
  await client.query(setMissing.replace("%SCHEMA%", schema));
}
