import { ConfigError, parseConfig } from "@tidemark/host/config";
import { hostConfig, migrateModules } from "@tidemark/host";
import { prepareLogins } from "@tidemark/pg";
import { loginConfig, knownNames } from "./settings.ts";
import { loginsOf } from "./login-urls.ts";
import { allModules } from "./modules.ts";

// Migrates the database, makes the login roles of the processes, and ends: the job that runs before the rollout of a new version. It alone
// has the owner's URL.
const settings = parseConfig({ host: hostConfig, logins: loginConfig }, process.env, { alsoKnown: knownNames });
const ownerUrl = settings.host.ownerDatabaseUrl ?? settings.host.databaseUrl;
if (ownerUrl === undefined) throw new ConfigError(["TIDEMARK_OWNER_DATABASE_URL is not set"]);
const logins = loginsOf(settings.logins.loginUrls ?? "");
const applied = await migrateModules(ownerUrl, allModules);
process.stdout.write(`${applied.length === 0 ? "nothing to do" : applied.join("\n")}\n`);
if (logins.length > 0) await prepareLogins(ownerUrl, logins);
