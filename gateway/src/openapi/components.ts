import { sessionCookie } from "../header-names.ts";
import type { Schema } from "../route.ts";

/** The body of every error. */
export const errorSchema: Schema = {
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
export const securitySchemes: Schema = {
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
