import { defineConfig, sharedFields } from "@tidemark/host/config";

/** Settings of the usage service. */
export const usageConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
