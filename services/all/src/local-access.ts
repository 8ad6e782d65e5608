import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { connectPeer, createCall } from "@tidemark/rpc";
import { randomBytes } from "node:crypto";
import { migrateModules, rolesOf, type ModuleDefinition } from "@tidemark/host";
import { prepareLogins } from "@tidemark/pg";

const START_TIMEOUT_MS = 120_000;

/** Returns the stored key, or an empty text if there is none. */
async function readKey(file: string): Promise<string> {
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
  const known = await readKey(file);
  const peer = connectPeer(options.controlUrl, { token: options.internalToken });
  try {
    const identity = create(IdentitySchema, { kind: CallerKind.OPERATOR });
    const call = createCall({ identity, timeoutMs: START_TIMEOUT_MS });
    const { newKey, oneTimeToken } = await peer.client(ControlService).ensureLocalAccess({ knownKey: known }, call);
    if (newKey === undefined) return { key: known, file, oneTimeToken };
    const temporary = `${file}.new`;
    await writeFile(temporary, `${newKey.plaintext}\n`, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, file);
    return { key: newKey.plaintext, file, oneTimeToken };
  } finally {
    await peer.close();
  }
}

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
