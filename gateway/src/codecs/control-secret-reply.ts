import type { RouteReply } from "../route.ts";

/** An answer that holds a secret: nothing on the way may keep it. */
export function secretReply(body: RouteReply["body"], headers: RouteReply["headers"] = {}): RouteReply {
  return { body, headers: { "cache-control": "no-store", ...headers } };
}
