import { parseConfig } from "@tidemark/config";
import { hostConfig, migrateModules } from "@tidemark/host";
import { allModules } from "./modules.ts";
import { knownNames } from "./settings.ts";

// Migrates the database and ends: the job that runs before the rollout of a new version.
const { host } = parseConfig({ host: hostConfig }, process.env, { alsoKnown: knownNames });
if (host.databaseUrl === undefined) throw new Error("TIDEMARK_DATABASE_URL is not set");
const applied = await migrateModules(host.databaseUrl, allModules);
process.stdout.write(`${applied.length === 0 ? "nothing to do" : applied.join("\n")}\n`);
