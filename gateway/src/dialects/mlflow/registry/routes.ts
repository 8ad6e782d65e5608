import type { Route } from "../../../route.ts";
import { registeredModelRoutes } from "./registered-models.ts";
import { versionRoutes } from "./versions.ts";

/** The model registry. */
export const registryRoutes: readonly Route[] = [...registeredModelRoutes, ...versionRoutes];
