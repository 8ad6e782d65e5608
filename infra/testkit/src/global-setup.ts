import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { obtainServer, startPostgres, type Postgres } from "@tidemark/local";

declare global {
  // Jest runs setup and teardown in one process and passes nothing from one to the other.
  var tidemarkTestPostgres: { server: Postgres; directory: string } | undefined;
}

/**
 * Starts one PostgreSQL for the whole test run, unless TIDEMARK_TEST_DATABASE_URL names one. Its
 * data is deleted afterwards, so it does not wait for the disk; tests of durability start their own.
 * With TIDEMARK_TEST_OBTAIN=1, which a full run sets, builds NATS and MinIO first if needed.
 */
export default async function startTestServer(): Promise<void> {
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  if (process.env["TIDEMARK_TEST_OBTAIN"] === "1") {
    // Tests that need a server which is not available note that.
    await obtainServer("nats-server", { log });
    await obtainServer("minio", { log });
  }
  if (process.env["TIDEMARK_TEST_DATABASE_URL"] !== undefined) return;
  const directory = await mkdtemp(join(tmpdir(), "tidemark-test-postgres-"));
  const server = await startPostgres({
    dataDir: directory,
    log,
    settings: { fsync: false, synchronous_commit: false, full_page_writes: false, max_connections: 400 },
  });
  globalThis.tidemarkTestPostgres = { server, directory };
  process.env["TIDEMARK_TEST_DATABASE_URL"] = server.url;
}
