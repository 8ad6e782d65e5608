import type { Route } from "../../route.ts";
import { experimentRoutes } from "./experiments/routes.ts";
import { metricRoutes } from "./metrics/routes.ts";
import { runRoutes } from "./runs/routes.ts";
import { serverRoutes } from "./server/routes.ts";

/** Every route of MLflow that is served. */
export const mlflowRoutes: readonly Route[] = [...serverRoutes, ...experimentRoutes, ...runRoutes, ...metricRoutes];
