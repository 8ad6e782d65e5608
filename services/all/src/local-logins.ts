import { randomBytes } from "node:crypto";
import { migrateModules, rolesOf, type ModuleDefinition } from "@tidemark/host";
import { prepareLogins } from "@tidemark/pg";

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
