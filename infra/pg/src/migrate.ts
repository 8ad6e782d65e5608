import pg from "pg";
import { type MigrationSet, readMigrationFiles } from "./migration-files.ts";
import { planForLargeOwners } from "./owner-statistics.ts";

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
