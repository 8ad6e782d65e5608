import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { type MigrationSet, startRemover } from "@tidemark/pg";
import { gateOfSettings } from "@tidemark/requests";
import { ReportsArchiveService } from "@tidemark/proto/reports/v1/archive";
import { ReportsRestoreService } from "@tidemark/proto/reports/v1/restore";
import { ReportsService } from "@tidemark/proto/reports/v1/reports";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { implement } from "@tidemark/rpc";
import { reportsConfig } from "./config.ts";
import { archiveHandlers, reportsHandlers, restoreHandlers } from "./handlers.ts";
import { removeReports } from "./removal/remove-reports.ts";

/** Schema `reports`. */
const reportsMigrations: MigrationSet = {
  schema: "reports",
  directory: join(import.meta.dirname, "store"),
};

/** Reports, and the views and preferences that people save in the dashboard. */
export const reportsModule = defineModule({
  name: "reports",
  config: reportsConfig,
  schema: "reports",
  migrations: reportsMigrations,
  reads: [
    "control.is_deleted_v1",
    "control.lock_caller_v1",
    "control.record_audit_v1",
    "runs.deleted_projects_v1",
    "runs.is_deleted_project_v1",
    "runs.names_deleted_project_v1",
    "runs.project_refs_v1",
  ],
  provides: [ReportsService, ReportsArchiveService, ReportsRestoreService],
  needs: [{ module: "usage", service: UsageService, optional: true }],
  start(context) {
    const db = context.db();
    const { shareTtlSeconds, removalSeconds } = context.config;
    const handlers = reportsHandlers({
      db,
      newId: randomUUID,
      randomBytes,
      now: () => context.now(),
      shareTtlSeconds,
      storageGate: gateOfSettings(context.config, {
        target: "storage",
        quota: Quota.STORAGE,
        usage: context.client(UsageService),
        log: context.log,
      }),
    });
    const remover = startRemover({
      db: context.workerDb(),
      service: "reports",
      remove: (removal) => removeReports(db, removal),
      seconds: removalSeconds,
      log: context.log,
    });
    return Promise.resolve({
      implementations: [
        implement(ReportsService, handlers),
        implement(ReportsArchiveService, archiveHandlers({ db })),
        implement(ReportsRestoreService, restoreHandlers({ db })),
      ],
      ready: () => db.ping(),
      stop: () => remover.stop(),
    });
  },
});
