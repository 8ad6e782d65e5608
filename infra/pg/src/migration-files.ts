import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

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
