import { defineConfig, int, sharedFields } from "@tidemark/config";

/** Settings of the service of imports and exports. */
export const importsExportConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
  readerThreads: int({
    env: "TIDEMARK_IMPORT_THREADS",
    help: "Threads that read the bodies of imports; they start when first needed. An organization has all but one of several.",
    default: 2,
    min: 1,
    max: 64,
  }),
  commitsMax: int({
    env: "TIDEMARK_IMPORT_COMMITS",
    help: "Imports that one process commits simultaneously.",
    default: 2,
    min: 1,
    max: 16,
  }),
  stagedDays: int({
    env: "TIDEMARK_IMPORT_STAGED_DAYS",
    help: "Days after which an import job that was neither committed nor changed is cancelled, and what it has staged is removed.",
    default: 30,
    min: 1,
    max: 3650,
  }),
  restoresMax: int({
    env: "TIDEMARK_RESTORES_MAX",
    help: "Archives that one process restores simultaneously; further ones wait for their turn.",
    default: 2,
    min: 1,
    max: 16,
  }),
  completeExportsMax: int({
    env: "TIDEMARK_COMPLETE_EXPORTS_MAX",
    help: "Complete exports that a process reads at the same time. Each keeps one database connection of the service that it reads from. An organization has at most half of them while others export; who waits for five seconds is asked to come again.",
    default: 4,
    min: 1,
    max: 100,
  }),
});
