import { appendFile } from "node:fs/promises";
import { obtainServer } from "@tidemark/local";

type ServerName = "nats-server" | "minio";

/** Notes something that is not available and what is therefore not tested; the end of the run repeats it. */
export async function noteMissing(sentence: string): Promise<void> {
  const file = process.env["TIDEMARK_MISSING_FILE"];
  process.stderr.write(`MISSING: ${sentence}\n`);
  if (file !== undefined) await appendFile(file, `${sentence}\n`);
}

/**
 * Returns the paths of the servers that a test needs; undefined if one is not available, which is then noted.
 * With CI=true a note fails the run, so that nothing is skipped unnoticed.
 */
export async function requireServers(names: readonly ServerName[]): Promise<Map<ServerName, string> | undefined> {
  const paths = new Map<ServerName, string>();
  for (const name of names) {
    const found = await obtainServer(name, { log: (line) => process.stderr.write(`${line}\n`) });
    if ("missing" in found) {
      await noteMissing(`${name}: ${found.missing}`);
      return undefined;
    }
    paths.set(name, found.path);
  }
  return paths;
}
