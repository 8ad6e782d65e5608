import type { Route } from "../../route.ts";
import { serverRoutes } from "./server/routes.ts";

/** Every route of MLflow that is served. */
export const mlflowRoutes: readonly Route[] = [...serverRoutes];
