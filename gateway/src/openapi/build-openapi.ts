import { servicePlaneKeys } from "../header-names.ts";
import type { Route } from "../route.ts";
import { operationOf } from "./operation.ts";
import { errorSchema, securitySchemes } from "./components.ts";

/** What the document says of the installation. */
export type OpenApiFacts = { readonly version: string; readonly servicePlane: string };

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/**
 * Describes the routes as an OpenAPI 3.1 document: parameters, bodies, answers by status, and who
 * may call. It is made from the same records that serve the requests, so the two cannot disagree.
 */
export function buildOpenApi(routes: readonly Route[], facts: OpenApiFacts): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  }
  const tags = [...new Set(routes.map(({ tag }) => tag))].toSorted();
  return {
    openapi: "3.1.0",
    info: {
      title: "Tidemark",
      version: facts.version,
      summary: "Experiment tracking: runs, metrics, logs and artifacts",
    },
    servers: [{ url: "/" }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: { schemas: { Error: errorSchema }, securitySchemes },
    ...Object.fromEntries(servicePlaneKeys.map((key) => [key, facts.servicePlane])),
  };
}
