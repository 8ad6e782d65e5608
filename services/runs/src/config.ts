import { defineConfig, int, sharedFields } from "@tidemark/config";

/** Settings of the runs service. */
export const runsConfig = defineConfig({
  limits: sharedFields.limits,
  plansFile: sharedFields.plansFile,
  searchThreads: int({
    env: "TIDEMARK_RUNS_SEARCH_THREADS",
    help: "Threads for searches with regular expressions, each with its own database connection; they start when first needed.",
    default: 2,
    min: 1,
    max: 64,
  }),
});
