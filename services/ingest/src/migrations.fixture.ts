import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const directory = join(import.meta.dirname, "store/migrations");

/** All migrations of the service. */
export const ingestMigrations = { schema: "ingest", directory };

/** All migrations of the runs service, whose views the ingest schema reads. */
export const runsMigrations = {
  schema: "runs",
  directory: join(import.meta.dirname, "../../runs/src/store/migrations"),
};

/** All migrations of the artifacts service, whose view the ingest schema reads. */
export const artifactsMigrations = {
  schema: "artifacts",
  directory: join(import.meta.dirname, "../../artifacts/src/store/migrations"),
};

/** Copies the migrations of the service before a number such as `0007` to a separate folder, which `remove` deletes. */
export async function ingestMigrationsBefore(
  number: string,
): Promise<{ schema: string; directory: string; remove(): Promise<void> }> {
  const before = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  const files = (await readdir(directory)).filter((file) => file < number);
  await Promise.all(files.map((file) => copyFile(join(directory, file), join(before, file))));
  return { schema: "ingest", directory: before, remove: () => rm(before, { recursive: true, force: true }) };
}
