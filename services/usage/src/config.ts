import { defineConfig, sharedFields } from "@tidemark/config";

/** Settings of the service of usage. */
export const usageConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
