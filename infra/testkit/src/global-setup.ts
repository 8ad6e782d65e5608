import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, type Postgres } from "@tidemark/local";
import { postgresMajor } from "./depth.ts";
import { obtainChromium } from "./chromium.ts";
import { makePostgresFolder } from "./test-database.ts";
import { obtainPython } from "./python.ts";
import { obtainServersOfRun } from "./require-servers.ts";

declare global {
  // Jest runs setup and teardown in one process and passes nothing from one to the other.
  var tidemarkTestStacks: string | undefined;
  var tidemarkTestPostgres: { server: Postgres; directory: string } | undefined;
}

const root = join(import.meta.dirname, "../../..");
/** The Python packages of all tests. */
const requirements = [
  "examples/python/requirements.txt",
  "examples/grpc/requirements.txt",
  "test/interop/openapi-requirements.txt",
  "test/examples/otlp-requirements.txt",
  "test/interop/mlflow3-requirements.txt",
].map((file) => join(root, file));

/**
 * Makes the folder of the stacks that test files share (TIDEMARK_TEST_STACKS), and starts one PostgreSQL for the whole test run, unless TIDEMARK_TEST_DATABASE_URL names one. Its data are deleted at the
 * end, so it does not wait for the disk; tests of durability start their own.
 *
 * With TIDEMARK_TEST_OBTAIN=1, which a full run sets, everything else that tests need is obtained before: they never run
 * during a build. A run of some tests obtains their requirements when they need them.
 */
export default async function prepareTestRun(): Promise<void> {
  if (process.env["TIDEMARK_TEST_OBTAIN"] === "1") {
    await Promise.all([obtainServersOfRun(), obtainChromium(), ...requirements.map(obtainPython)]);
  }
  const stacks = await mkdtemp(join(tmpdir(), "tidemark-test-stacks-"));
  globalThis.tidemarkTestStacks = stacks;
  process.env["TIDEMARK_TEST_STACKS"] = stacks;
  if (process.env["TIDEMARK_TEST_DATABASE_URL"] !== undefined) return;
  const directory = await makePostgresFolder();
  const server = await startPostgres({
    dataDir: directory,
    newMajor: postgresMajor,
    log: (line) => void process.stderr.write(`${line}\n`),
    settings: { fsync: false, synchronous_commit: false, full_page_writes: false, max_connections: 400 },
  });
  globalThis.tidemarkTestPostgres = { server, directory };
  process.env["TIDEMARK_TEST_DATABASE_URL"] = server.url;
}
