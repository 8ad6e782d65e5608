import type { RouteInput } from "../route.ts";

/** What a codec gets for a request with these parts. */
export function inputOf(parts: Partial<Pick<RouteInput, "params" | "query" | "body">>): RouteInput {
  return {
    params: {},
    query: {},
    body: {},
    identity: undefined,
    idempotencyKey: undefined,
    knownTags: [],
    baseUrl: "http://127.0.0.1:8080",
    sessionToken: undefined,
    cookieSecure: false,
    ...parts,
  };
}
