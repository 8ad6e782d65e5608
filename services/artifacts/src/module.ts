import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { defineModule } from "@tidemark/host";
import { type MigrationSet, startRemover } from "@tidemark/pg";
import { createRunDirectory, gateOfSettings, watchRuns } from "@tidemark/requests";
import { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import { ArtifactsService } from "@tidemark/proto/artifacts/v1/artifacts";
import { ModelsService } from "@tidemark/proto/artifacts/v1/models";
import { RegistryService } from "@tidemark/proto/artifacts/v1/registry";
import { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { Quota, UsageService } from "@tidemark/proto/usage/v1/usage";
import { implement } from "@tidemark/rpc";
import { artifactsConfig } from "./config.ts";
import { archiveHandlers, artifactsHandlers, modelsHandlers, registryHandlers, restoreHandlers } from "./handlers.ts";
import { removeArtifacts } from "./removal/remove-artifacts.ts";

import { findRunRefs, readRunChanges } from "./runs/run-refs.sql.ts";
import { startSweeper } from "./sweep/sweep.ts";
import { createPartAddresses } from "./uploads/part-addresses.ts";
import { createUploadJobs } from "./uploads/upload-jobs.ts";
import { createUploadSecret } from "./uploads/uploads.sql.ts";

/** Schema `artifacts`. */
const artifactsMigrations: MigrationSet = {
  schema: "artifacts",
  directory: join(import.meta.dirname, "store"),
};

/** Artifacts, collections and versions. */
export const artifactsModule = defineModule({
  name: "artifacts",
  config: artifactsConfig,
  schema: "artifacts",
  migrations: artifactsMigrations,
  reads: ["runs.project_refs_v1", "runs.run_labels_v1", "runs.run_refs_v1", "runs.visibility_changes_v1"],
  provides: [ArtifactsService, ArtifactsArchiveService, ArtifactsRestoreService, ModelsService, RegistryService],
  needs: [{ module: "usage", service: UsageService, optional: true }],
  async start(context) {
    const { runsRemembered, graceDays, removalSeconds } = context.config;
    const { log } = context;
    const [db, workerDb, blob] = [context.db(), context.workerDb(), await context.blob()];
    const uploadSecret = createUploadSecret(db);
    const jobs = createUploadJobs({ db, blob, newId: randomUUID, log });
    const gate = gateOfSettings(context.config, {
      target: "storage",
      quota: Quota.STORAGE,
      usage: context.client(UsageService),
      log,
    });
    const deps = {
      db,
      workerDb,
      blob,
      runs: createRunDirectory(
        (orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)),
        runsRemembered,
      ),
      jobs,
      addresses: createPartAddresses(blob, uploadSecret, () => context.now()),
      uploadSecret,
      newId: randomUUID,
      now: () => context.now(),
      graceDays,
      storageBackend: blob.kind === "folder" ? ("local" as const) : ("r2" as const),
      gate,
    };
    const watch = watchRuns({
      read: (since) => readRunChanges(db, since),
      log,
      nowMs: () => performance.now(),
    });
    const sweeper = startSweeper({ ...deps, sweepSeconds: removalSeconds, log });
    const remover = startRemover({
      db: workerDb,
      service: "artifacts",
      remove: (removal) => removeArtifacts(db, removal),
      seconds: removalSeconds,
      log,
    });
    return {
      implementations: [
        implement(ArtifactsService, artifactsHandlers(deps)),
        implement(ArtifactsArchiveService, archiveHandlers(deps)),
        implement(ArtifactsRestoreService, restoreHandlers(deps)),
        implement(ModelsService, modelsHandlers(deps)),
        implement(RegistryService, registryHandlers(deps)),
      ],
      ready: () => db.ping(),
      drain: () => jobs.drain(),
      stop: async () => void (await Promise.all([watch.stop(), sweeper.stop(), remover.stop()])),
    };
  },
});
