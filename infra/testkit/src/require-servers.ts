import { appendFile } from "node:fs/promises";
import { obtainServer, type Log, type ObtainedServer, type ServerName } from "@tidemark/local";

const obtainedVariable = "TIDEMARK_TEST_SERVERS";
const names: readonly ServerName[] = ["nats-server", "minio", "grpcurl"];
const print: Log = (line) => void process.stderr.write(`${line}\n`);

/**
 * Obtains the servers of all tests, simultaneously, and remembers the outcome for the tests of this run, so that none of
 * them builds anything or tries again what has failed. Tests that need a missing one say so themselves.
 */
export async function obtainServersOfRun(): Promise<void> {
  const found = await Promise.all(names.map(async (name) => [name, await obtainServer(name, { log: print })] as const));
  process.env[obtainedVariable] = JSON.stringify(Object.fromEntries(found));
}

function obtain(name: ServerName): Promise<ObtainedServer> | ObtainedServer {
  const known = process.env[obtainedVariable];
  if (known === undefined) return obtainServer(name, { log: print });
  return (JSON.parse(known) as Record<ServerName, ObtainedServer>)[name];
}

/**
 * Returns the paths of the servers that a test needs; undefined when one is not available, which is then noted. With
 * CI=true a note fails the run, so that nothing is left out unseen.
 */
export async function requireServers(needed: readonly ServerName[]): Promise<Map<ServerName, string> | undefined> {
  const paths = new Map<ServerName, string>();
  for (const name of needed) {
    const found = await obtain(name);
    if ("missing" in found) {
      await noteMissing(`${name}: ${found.missing}`);
      return undefined;
    }
    paths.set(name, found.path);
  }
  return paths;
}

/** Notes something that is not available, and which tests were therefore left out; the end of the run repeats it. */
export async function noteMissing(sentence: string): Promise<void> {
  const file = process.env["TIDEMARK_MISSING_FILE"];
  print(`MISSING: ${sentence}`);
  if (file !== undefined) await appendFile(file, `${sentence}\n`);
}
