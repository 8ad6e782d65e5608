import { defineConfig, sharedFields } from "@tidemark/config";

/** Settings of the usage service. */
export const usageConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
