import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { startError } from "@tidemark/local";
import { connectPeer, createCall } from "@tidemark/rpc";
import { randomBytes } from "node:crypto";
import { migrateModules, rolesOf, type ModuleDefinition } from "@tidemark/host";
import { prepareLogins } from "@tidemark/pg";

const START_TIMEOUT_MS = 120_000;

/** Returns a stored line, or an empty text if there is none. */
async function readSecret(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/**
 * Returns the API key of this data folder: the one stored in `api-key` (mode 0600) as long as it works, otherwise a new one that
 * is stored there first; and a token with which the owner signs in once. Asks the control service at `controlUrl`.
 */
export async function ensureLocalKey(options: {
  dataDirectory: string;
  controlUrl: string;
  internalToken: string;
}): Promise<{ key: string; file: string; oneTimeToken: string }> {
  const file = join(options.dataDirectory, "api-key");
  const known = await readSecret(file);
  const peer = connectPeer(options.controlUrl, { token: options.internalToken });
  try {
    const identity = create(IdentitySchema, { kind: CallerKind.OPERATOR });
    const call = createCall({ identity, timeoutMs: START_TIMEOUT_MS });
    const { newKey, oneTimeToken } = await peer.client(ControlService).ensureLocalAccess({ knownKey: known }, call);
    if (newKey === undefined) return { key: known, file, oneTimeToken };
    await writeSecret(file, newKey.plaintext);
    return { key: newKey.plaintext, file, oneTimeToken };
  } finally {
    await peer.close();
  }
}

/** Writes a line that only the user of the folder can read. */
async function writeSecret(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  await writeFile(temporary, `${text}\n`, { mode: 0o600 });
  await chmod(temporary, 0o600);
  await rename(temporary, file);
}

/** How another program of this user reaches the running server. */
type RunningServer = { readonly baseUrl: string; readonly controlUrl: string; readonly internalToken: string };

const runningFile = (dataDirectory: string): string => join(dataDirectory, "running.json");

/** Keeps in the data folder (mode 0600) how `--link` reaches the server. Returns a function that removes it at the end. */
export async function keepRunning(dataDirectory: string, server: RunningServer): Promise<() => Promise<void>> {
  const file = runningFile(dataDirectory);
  await writeSecret(file, JSON.stringify(server));
  return () => rm(file, { force: true });
}

/** Returns a new link of the owner for the server that runs with this data folder. @throws StartError in one line when none does */
export async function newOwnerLink(dataDirectory: string): Promise<string> {
  const none = (): Error => startError(`no server runs with the data folder ${dataDirectory}: npm start begins one`);
  const text = await readSecret(runningFile(dataDirectory));
  if (text === "") throw none();
  const { baseUrl, controlUrl, internalToken } = JSON.parse(text) as RunningServer;
  try {
    return ownerLink(baseUrl, (await ensureLocalKey({ dataDirectory, controlUrl, internalToken })).oneTimeToken);
  } catch {
    // It was killed and could not remove the file.
    throw none();
  }
}

/** Returns the address that signs the owner in. The token is after a `#`, so that it does not reach any server's access log. */
export const ownerLink = (baseUrl: string, token: string): string => `${baseUrl}/signin#token=${token}`;

/** The processes of a local start: a name of small letters and _ to the modules that run there. */
export type LocalProcesses = ReadonlyMap<string, readonly ModuleDefinition[]>;

/**
 * Migrates the database and makes a login role for each process that needs one, with a new password at every start, so that no process runs as
 * the superuser. Returns the database URLs by process.
 */
export async function prepareLocalDatabase(
  superuserUrl: string,
  processes: LocalProcesses,
): Promise<ReadonlyMap<string, string>> {
  await migrateModules(superuserUrl, [...processes.values()].flat());
  const logins = [...processes].flatMap(([name, modules]) => {
    const roles = rolesOf(modules);
    if (roles.length === 0) return [];
    const url = new URL(superuserUrl);
    url.username = `local_${name.replaceAll("-", "_")}`;
    url.password = randomBytes(24).toString("base64url");
    return [{ name, roles, url: url.href }];
  });
  await prepareLogins(superuserUrl, logins);
  return new Map(logins.map(({ name, url }) => [name, url]));
}
