import type { Route } from "../route.ts";
import { archiveRoutes } from "./archive/routes.ts";
import { artifactsRoutes } from "./artifacts/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { changesRoutes } from "./changes/routes.ts";
import { attributesRoutes } from "./attributes/routes.ts";
import { deviceLoginRoutes } from "./device-login/routes.ts";
import { embedsRoutes } from "./embeds/routes.ts";
import { exportRoutes } from "./export/routes.ts";
import { invitationsRoutes } from "./invitations/routes.ts";
import { keysRoutes } from "./keys/routes.ts";
import { logsRoutes } from "./logs/routes.ts";
import { importsRoutes } from "./imports/routes.ts";
import { metricsRoutes } from "./metrics/routes.ts";
import { objectsRoutes } from "./objects/routes.ts";
import { otlpRoutes } from "./otlp/routes.ts";
import { operatorRoutes } from "./organizations/operator-routes.ts";
import { organizationsRoutes } from "./organizations/routes.ts";
import { routingRoutes } from "./platform/routes.ts";
import { preferencesRoutes } from "./preferences/routes.ts";
import { projectsRoutes } from "./projects/routes.ts";
import { rankMetricsRoutes } from "./rank-metrics/routes.ts";
import { reportsRoutes } from "./reports/routes.ts";
import { runControlRoutes } from "./run-control/routes.ts";
import { runsRoutes } from "./runs/routes.ts";
import { sessionsRoutes } from "./sessions/routes.ts";
import { tracesRoutes } from "./traces/routes.ts";
import { usageRoutes } from "./usage/routes.ts";
import { viewDataRoutes } from "./view-data/routes.ts";
import { viewsRoutes } from "./workspace-views/routes.ts";

/** Every route of the product except the platform's own (`platformRoutes`), which need the state of the process. */
export const allRoutes: readonly Route[] = [
  ...projectsRoutes,
  ...changesRoutes,
  ...runsRoutes,
  ...runControlRoutes,
  ...metricsRoutes,
  ...rankMetricsRoutes,
  ...logsRoutes,
  ...attributesRoutes,
  ...objectsRoutes,
  ...artifactsRoutes,
  ...tracesRoutes,
  ...otlpRoutes,
  ...exportRoutes,
  ...reportsRoutes,
  ...preferencesRoutes,
  ...viewsRoutes,
  ...viewDataRoutes,
  ...embedsRoutes,
  ...usageRoutes,
  ...importsRoutes,
  ...archiveRoutes,
  ...operatorRoutes,
  ...keysRoutes,
  ...sessionsRoutes,
  ...deviceLoginRoutes,
  ...organizationsRoutes,
  ...auditRoutes,
  ...invitationsRoutes,
  ...routingRoutes,
];
