import { parseConfig } from "@tidemark/config";
import { hostConfig, migrateModules } from "@tidemark/host";
import { knownNames } from "./known-names.ts";
import { allModules } from "./modules.ts";

// Brings the database up to date and ends: the job that runs before a new version rolls out.
const { host } = parseConfig({ host: hostConfig }, process.env, { alsoKnown: knownNames });
if (host.databaseUrl === undefined) throw new Error("TIDEMARK_DATABASE_URL is not set");
const applied = await migrateModules(host.databaseUrl, allModules);
process.stdout.write(`${applied.length === 0 ? "nothing to do" : applied.join("\n")}\n`);
