import type { Route } from "../route.ts";
import { mlflowRoutes } from "./mlflow/index.ts";

/** The routes of all dialects, which `/openapi.json` does not describe: each belongs to the documentation of its own product. */
export const dialectRoutes: readonly Route[] = [...mlflowRoutes];
