import { randomBytes } from "node:crypto";
import { allModules } from "@tidemark/all";
import { rolesOf } from "@tidemark/host";
import { prepareLogins } from "@tidemark/pg";
import { Client } from "pg";

/** The login roles of a stack. */
export type Logins = {
  /** Returns the database URL of the process of a module, or of `all`; undefined for one without a database. */
  urlOf(group: string): string | undefined;
  /** Drops the roles where that can still be done: a server that is gone has taken them along. */
  drop(): Promise<void>;
};

/** Makes a login role for each module and one for all together in a migrated database, as the migration job of an installation does. */
export async function createLogins(databaseUrl: string): Promise<Logins> {
  // Roles belong to the server, which tests share.
  const installation = `test_${randomBytes(6).toString("hex")}`;
  const groups = [["all", allModules] as const, ...allModules.map((module) => [module.name, [module]] as const)];
  const logins = groups.flatMap(([group, modules]) => {
    const roles = rolesOf(modules);
    if (roles.length === 0) return [];
    const url = new URL(databaseUrl);
    url.username = `${installation}_${group.replaceAll("-", "_")}`;
    url.password = randomBytes(16).toString("hex");
    return [{ group, roles, name: url.username, url: url.href }];
  });
  await prepareLogins(databaseUrl, logins);
  const urls = new Map(logins.map(({ group, url }) => [group, url]));
  return {
    urlOf: (group) => urls.get(group),
    async drop() {
      const server = new URL(databaseUrl);
      server.pathname = "/postgres";
      const client = new Client({ connectionString: server.href });
      client.on("error", () => {});
      try {
        await client.connect();
        for (const { name } of logins) await client.query(`DROP ROLE ${name}`);
      } catch {
        // A database that the test keeps still knows them, and a stopped server cannot be asked.
      } finally {
        await client.end().catch(() => {});
      }
    },
  };
}
