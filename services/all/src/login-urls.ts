import { secret, type ConfigGroup, type Field } from "@tidemark/config";
import { rolesOf } from "@tidemark/host";
import type { Login } from "@tidemark/pg";
import { allModules } from "./modules.ts";

type Setting = { readonly module: (typeof allModules)[number]; readonly field: Field<string | undefined> };

const settings: readonly Setting[] = allModules
  .filter(({ schema }) => schema !== undefined)
  .map((module) => ({
    module,
    field: secret({
      env: `TIDEMARK_LOGIN_URL_${module.name.replaceAll("-", "_").toUpperCase()}`,
      optional: true,
      help: `TIDEMARK_DATABASE_URL of the process ${module.name}, for the migration job: it makes the login role that this URL names.`,
      schemes: ["postgres", "postgresql"],
    }),
  }));

/** Settings of the migration job: the database URLs of the processes whose login roles it makes. */
export const loginConfig: ConfigGroup = Object.fromEntries(settings.map(({ module, field }) => [module.name, field]));

/** Returns the logins that these settings name, with the roles of their modules. */
export function loginsOf(urls: Readonly<Record<string, unknown>>): readonly Login[] {
  return settings.flatMap(({ module }) => {
    const url = urls[module.name];
    return typeof url === "string" ? [{ url, roles: rolesOf([module]) }] : [];
  });
}
