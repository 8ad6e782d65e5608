import type { RouteInput } from "../route.ts";

/** A request as decoders get it, with what a test does not name left empty. */
export function inputOf(parts: Partial<RouteInput>): RouteInput {
  return {
    params: { run_id: "0c9b8a1e-1111-4222-8333-444455556666" },
    query: {},
    body: {},
    identity: undefined,
    idempotencyKey: undefined,
    knownTags: [],
    baseUrl: "http://127.0.0.1:8080",
    sessionToken: undefined,
    loginSecret: undefined,
    isFromThisMachine: true,
    cookieSecure: false,
    ...parts,
  };
}
