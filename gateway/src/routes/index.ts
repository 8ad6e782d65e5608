import type { Route } from "../route.ts";
import { attributesRoutes } from "./attributes.ts";
import { controlRoutes } from "./control.ts";
import { logsRoutes } from "./logs.ts";
import { metricsRoutes } from "./metrics.ts";
import { projectsRoutes } from "./projects.ts";
import { rankMetricsRoutes } from "./rank-metrics.ts";
import { runComparisonRoutes } from "./run-comparison.ts";
import { runControlRoutes } from "./run-control.ts";
import { routingRoutes } from "./routing.ts";
import { runRelationsRoutes } from "./run-relations.ts";
import { runsRoutes } from "./runs.ts";

/** Every route of the product except the platform's own (`platformRoutes`), which need the state of the process. */
export const allRoutes: readonly Route[] = [
  ...projectsRoutes,
  ...runsRoutes,
  ...runRelationsRoutes,
  ...runComparisonRoutes,
  ...runControlRoutes,
  ...metricsRoutes,
  ...rankMetricsRoutes,
  ...logsRoutes,
  ...attributesRoutes,
  ...controlRoutes,
  ...routingRoutes,
];
