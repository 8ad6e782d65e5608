import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { startRemover, type MigrationSet } from "@tidemark/pg";
import { loadPlans } from "@tidemark/requests";
import { UsageService } from "@tidemark/proto/usage/v1/usage";
import { implement } from "@tidemark/rpc";
import { usageConfig } from "./config.ts";
import { usageHandlers } from "./handlers.ts";
import { removeUsage, startUsageUpkeep } from "./upkeep/upkeep.ts";

/** Schema `usage`. */
const usageMigrations: MigrationSet = {
  schema: "usage",
  directory: join(import.meta.dirname, "store"),
};

/** Tokens of rate limits, counts of requests, and how much of their plans organizations use. */
export const usageModule = defineModule({
  name: "usage",
  config: usageConfig,
  schema: "usage",
  migrations: usageMigrations,
  reads: [
    "artifacts.stored_rows_v1",
    "artifacts.usage_v1",
    "control.organization_refs_v1",
    "control.usage_v1",
    "imports.usage_v1",
    "ingest.stored_rows_v1",
    "ingest.usage_v1",
    "reports.stored_rows_v1",
    "runs.stored_rows_v1",
    "runs.usage_v1",
    "traces.stored_rows_v1",
    "traces.usage_v1",
  ],
  provides: [UsageService],
  needs: [],
  start(context) {
    const { config, log } = context;
    const db = context.db();
    const workerDb = context.workerDb();
    const upkeep = startUsageUpkeep({ workerDb, log });
    const remover = startRemover({
      db: workerDb,
      service: "usage",
      remove: (removal) => removeUsage(workerDb, removal),
      seconds: config.removalSeconds,
      log,
    });
    const handlers = usageHandlers({
      db,
      workerDb,
      plans: loadPlans(config.plansFile),
      enforced: config.limits,
      now: () => context.now(),
    });
    return Promise.resolve({
      implementations: [implement(UsageService, handlers)],
      ready: () => db.ping(),
      stop: async () => void (await Promise.all([upkeep.stop(), remover.stop()])),
    });
  },
});
