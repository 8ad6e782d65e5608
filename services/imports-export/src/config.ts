import { defineConfig, sharedFields } from "@tidemark/host/config";

/** Settings of the service of imports and exports. */
export const importsExportConfig = defineConfig({
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
