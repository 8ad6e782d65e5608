import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import { migrate, type MigrationSet } from "@tidemark/pg";
import pg from "pg";
import type { Catalog } from "./catalog.ts";

/**
 * Runs `work` on an empty database that has every migration: of a server made for this, of the version that the lock file
 * pins, regardless of what the machine has. The server and its data are gone afterwards.
 * @throws StartError in one line when the server cannot be started
 */
export async function withMigratedDatabase<T>(
  sets: readonly MigrationSet[],
  work: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-schema-"));
  try {
    const server = await startPostgres({
      dataDir: directory,
      log: () => {},
      settings: { fsync: false, synchronous_commit: false, full_page_writes: false, shared_buffers: "32MB" },
    });
    try {
      await migrate(server.url, sets);
      return await withCatalog(server.url, work);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Runs `work` on a connection to the system catalogs of a database. */
export async function withCatalog<T>(url: string, work: (catalog: Catalog) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: "-c search_path=" });
  await client.connect();
  try {
    return await work({ query: (text, values) => client.query(text, [...values]) });
  } finally {
    await client.end();
  }
}
