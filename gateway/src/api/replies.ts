import type { RouteReply } from "../route.ts";

/** Returns a message that the service always sets, which protobuf cannot express. @throws Error when it is missing */
export function requireMessage<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("a service left out a message that it owes");
  return message;
}

/** Returns an answer that holds a secret, which no cache may keep. */
export function secretReply(body: RouteReply["body"], headers: RouteReply["headers"] = {}): RouteReply {
  return { body, headers: { "cache-control": "no-store", ...headers } };
}

/** Returns null for the empty text, which messages use where JSON uses null. */
export function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}
