import { parseArgs } from "node:util";
import { ConfigError, parseConfig } from "@tidemark/host/config";
import { hostConfig } from "@tidemark/host";
import { createDb } from "@tidemark/pg";
import { recountStorage } from "@tidemark/usage/recount";
import { knownNames } from "./settings.ts";

// Compares the storage counters with a recount from the rows, and prints differences by organization and kind. With --repair it corrects
// the counters. Exits with 1 if a difference was not corrected. Needs the database URL of the usage service.
const { values } = parseArgs({ options: { repair: { type: "boolean", default: false } } });
const settings = parseConfig({ host: hostConfig }, process.env, { alsoKnown: knownNames });
const url = settings.host.databaseUrl;
if (url === undefined) throw new ConfigError(["TIDEMARK_DATABASE_URL is not set"]);
const open = (role: string) => createDb({ url, role, application: "tidemark-recount", connectionsMax: 1 });
const [db, workerDb] = [open("tidemark_usage"), open("tidemark_usage_worker")];
const repair = values.repair === true;
let differences = 0;
try {
  for await (const { slug, orgId, kind, counted, stored } of recountStorage({ db, workerDb }, { repair })) {
    differences += 1;
    process.stdout.write(
      `${slug} (${orgId}) ${kind}: counted ${counted}, stored ${stored}, off by ${counted - stored}\n`,
    );
  }
} finally {
  await Promise.all([db.close(), workerDb.close()]);
}
process.stdout.write(
  differences === 0
    ? "the counters are those of the rows\n"
    : `${differences} counters differed${repair ? " and were corrected" : "; --repair corrects them"}\n`,
);
if (differences > 0 && !repair) process.exitCode = 1;
