import { secret, type ConfigGroup } from "@tidemark/config";
import { moduleList } from "./module-list.ts";

/** Settings of the migration job: the database URLs of the processes whose login roles it makes. */
export const loginConfig: ConfigGroup = Object.fromEntries(
  moduleList
    .filter(({ hasDatabase }) => hasDatabase)
    .map(({ name }) => [
      name,
      secret({
        env: `TIDEMARK_LOGIN_URL_${name.replaceAll("-", "_").toUpperCase()}`,
        optional: true,
        help: `TIDEMARK_DATABASE_URL of the process ${name}, for the migration job: it makes the login role that this URL names.`,
        schemes: ["postgres", "postgresql"],
      }),
    ]),
);
