import { rolesOf } from "@tidemark/host";
import type { Login } from "@tidemark/pg";
import { allModules } from "./modules.ts";

/** Returns the logins named by the settings of the migration job (`login-config.ts`), with the roles of their modules. */
export function loginsOf(urls: Readonly<Record<string, unknown>>): readonly Login[] {
  return allModules.flatMap((module) => {
    const url = urls[module.name];
    return typeof url === "string" ? [{ url, roles: rolesOf([module]) }] : [];
  });
}
