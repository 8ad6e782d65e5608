import { defineConfig, sharedFields } from "@tidemark/config";

/** Settings of the runs service. */
export const runsConfig = defineConfig({ limits: sharedFields.limits, plansFile: sharedFields.plansFile });
