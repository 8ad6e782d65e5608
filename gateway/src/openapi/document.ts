import { servicePlaneKeys, sessionCookie } from "../http/headers.ts";
import type { Route, Schema } from "../route.ts";
import { operationOf } from "./operation.ts";

/** What the document says about the installation. */
export type OpenApiFacts = { readonly version: string; readonly servicePlane: string };

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/**
 * Describes the routes as an OpenAPI 3.1 document: parameters, bodies, answers by status, and who
 * may call. It is built from the records that serve the requests.
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

/** The body of every error. */
const errorSchema: Schema = {
  type: "object",
  required: ["error"],
  properties: {
    error: { type: "string", description: "What is wrong, for people." },
    code: { type: "string", description: "What is wrong, for programs; stable. Most errors have none." },
    field: { type: "string", description: "The field or parameter at fault." },
    position: { type: "integer", minimum: 1, description: "Where in that field, as a column from 1." },
  },
};

/** How callers identify themselves. */
const securitySchemes: Schema = {
  bearerApiKey: { type: "http", scheme: "bearer", description: "An API key." },
  cookieSession: {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: "A signed-in browser. Requests with effects also need an allowed Origin.",
  },
  bearerEmbedToken: { type: "http", scheme: "bearer", description: "The token of an embed session." },
  bootstrapToken: {
    type: "apiKey",
    in: "header",
    name: "X-Svc-Bootstrap-Token",
    description: "The operator's token; X-InstantML-Bootstrap-Token is accepted as well.",
  },
};
