import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import pg from "pg";

/** A PostgreSQL that a benchmark has for itself. */
export type BenchPostgres = {
  readonly pid: number;
  /** Makes an empty database and returns its URL for the superuser. */
  database(name: string): Promise<string>;
};

/** Starts a PostgreSQL as in production (every acknowledged write is on the disk), and deletes it after `use`. */
export async function withFreshPostgres(use: (postgres: BenchPostgres) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
  const postgres = await startPostgres({ dataDir: join(directory, "postgres"), log: () => {} });
  const database = async (name: string): Promise<string> => {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
    } finally {
      await client.end();
    }
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  try {
    await use({ pid: postgres.pid, database });
  } finally {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
