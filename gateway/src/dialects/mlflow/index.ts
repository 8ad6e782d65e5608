import type { Route } from "../../route.ts";
import { artifactRoutes } from "./artifacts/routes.ts";
import { experimentRoutes } from "./experiments/routes.ts";
import { inputRoutes } from "./inputs/routes.ts";
import { metricRoutes } from "./metrics/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { registryRoutes } from "./registry/routes.ts";
import { runRoutes } from "./runs/routes.ts";
import { serverRoutes } from "./server/routes.ts";

/** Every route of MLflow that is served. */
export const mlflowRoutes: readonly Route[] = [
  ...serverRoutes,
  ...experimentRoutes,
  ...runRoutes,
  ...metricRoutes,
  ...inputRoutes,
  ...modelRoutes,
  ...registryRoutes,
  ...artifactRoutes,
];
