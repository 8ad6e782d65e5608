import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder for a PostgreSQL. Another account passes through it where the tests run as root: PostgreSQL 15 opens its folder by the full path. */
export async function makePostgresFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-test-postgres-"));
  await chmod(folder, 0o711);
  return folder;
}
