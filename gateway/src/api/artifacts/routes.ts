import type { Route } from "../../route.ts";
import { collectionsRoutes } from "./collection-routes.ts";
import { plainArtifactsRoutes } from "./plain-routes.ts";
import { uploadsRoutes } from "./upload-routes.ts";
import { versionsRoutes } from "./version-routes.ts";

/** Artifacts: files of runs, and versions of collections. */
export const artifactsRoutes: readonly Route[] = [
  ...plainArtifactsRoutes,
  ...uploadsRoutes,
  ...collectionsRoutes,
  ...versionsRoutes,
];
