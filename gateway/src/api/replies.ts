import type { RouteReply } from "../route.ts";

/** A message field that the service always sets; protobuf cannot say so. @throws Error when it is missing */
export function requireMessage<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("a service left out a message that it owes");
  return message;
}

/** An answer that holds a secret: nothing on the way may keep it. */
export function secretReply(body: RouteReply["body"], headers: RouteReply["headers"] = {}): RouteReply {
  return { body, headers: { "cache-control": "no-store", ...headers } };
}

/** A text, or null where there is none. */
export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}
