import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { startRemover } from "@tidemark/pg";
import { TracesArchiveService } from "@tidemark/proto/traces/v1/archive";
import { TracesRestoreService } from "@tidemark/proto/traces/v1/restore";
import { TracesService } from "@tidemark/proto/traces/v1/traces";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { createRunDirectory, gateOfSettings, watchRuns } from "@tidemark/requests";
import { implement } from "@tidemark/rpc";
import { archiveHandlers } from "./read/export-traces.ts";
import { startCompactor } from "./compact/compactor.ts";
import { tracesConfig } from "./config.ts";
import { tracesHandlers } from "./handlers.ts";
import { removeTraces } from "./removal/remove-traces.ts";
import { restoreHandlers } from "./append/restore-spans.ts";
import { findRunRefs, readRunChanges } from "./runs/runs.sql.ts";
import { createTraceStates } from "./state/trace-states.ts";

/** Memory for the spans of traces that are being written or read: about 200 bytes a span. What does not fit is read again. */
const STATE_BYTES = 128 * 1024 * 1024;

/** Traces and their spans. */
export const tracesModule = defineModule({
  name: "traces",
  config: tracesConfig,
  schema: "traces",
  migrations: { schema: "traces", directory: join(import.meta.dirname, "store") },
  reads: ["runs.project_refs_v1", "runs.run_labels_v1", "runs.run_refs_v1", "runs.visibility_changes_v1"],
  provides: [TracesService, TracesArchiveService, TracesRestoreService],
  needs: [{ module: "usage", service: UsageService, optional: true }],
  start(context) {
    const { runsRemembered, compactAfterSeconds, removalSeconds } = context.config;
    const db = context.db();
    const gateOf = (target: "trace_events" | "storage", quota: Quota) =>
      gateOfSettings(context.config, { target, quota, usage: context.client(UsageService), log: context.log });
    const deps = {
      db,
      runs: createRunDirectory(
        (orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)),
        runsRemembered,
      ),
      states: createTraceStates(STATE_BYTES),
      quietSeconds: compactAfterSeconds,
      now: () => context.now(),
      eventGate: gateOf("trace_events", Quota.TRACE_EVENTS),
      storageGate: gateOf("storage", Quota.STORAGE),
    };
    const { log, metrics } = context;
    const watch = watchRuns({
      read: (since) => readRunChanges(db, since),
      log,
      nowMs: () => performance.now(),
    });
    const workerDb = context.workerDb();
    const compactor = startCompactor({ ...deps, workerDb, log, metrics });
    const remover = startRemover({
      db: workerDb,
      service: "traces",
      remove: (removal) => removeTraces(workerDb, removal),
      seconds: removalSeconds,
      log,
    });
    return Promise.resolve({
      implementations: [
        implement(TracesService, tracesHandlers(deps)),
        implement(TracesArchiveService, archiveHandlers(deps)),
        implement(TracesRestoreService, restoreHandlers(deps)),
      ],
      ready: () => db.ping(),
      stop: async () => void (await Promise.all([watch.stop(), compactor.stop(), remover.stop()])),
    });
  },
});
