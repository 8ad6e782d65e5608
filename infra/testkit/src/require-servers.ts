import { appendFile } from "node:fs/promises";
import { obtainServer, type ServerName } from "@tidemark/local";

/** Notes something that could not be had, and what was therefore not tested; the end of the run repeats it. */
export async function noteMissing(sentence: string): Promise<void> {
  const file = process.env["TIDEMARK_MISSING_FILE"];
  process.stderr.write(`MISSING: ${sentence}\n`);
  if (file !== undefined) await appendFile(file, `${sentence}\n`);
}

/**
 * Paths of the servers that a test needs; undefined when one cannot be had, which is then noted.
 * With CI=true a note fails the run, so that nothing is left out unseen.
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
