import { NON_FINITE_TEXTS } from "@tidemark/values";
import type { RouteReply, Schema } from "../route.ts";

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

// JSON Schemas that the answers of several families share.

export const uuidSchema: Schema = { type: "string", format: "uuid" };
export const uuidOrNullSchema: Schema = { type: ["string", "null"], format: "uuid" };
export const timeSchema: Schema = { type: "string", format: "date-time" };
export const timeOrNullSchema: Schema = { type: ["string", "null"], format: "date-time" };
export const textSchema: Schema = { type: "string" };
export const textOrNullSchema: Schema = { type: ["string", "null"] };
export const numberSchema: Schema = { type: "number" };
/** A value of a metric. */
export const valueSchema: Schema = {
  anyOf: [
    { type: "number" },
    { type: "string", enum: [...NON_FINITE_TEXTS], description: "A value that is not finite." },
  ],
};
export const numberOrNullSchema: Schema = { type: ["number", "null"] };
export const countSchema: Schema = { type: "integer", minimum: 0 };
export const booleanSchema: Schema = { type: "boolean" };

/** Returns the schema of an object whose properties are required, except the ones named in `optional`. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema & { readonly properties: Readonly<Record<string, Schema>> } {
  return { type: "object", required: Object.keys(properties).filter((name) => !optional.includes(name)), properties };
}

/** Returns the schema of a list. */
export function listSchema(items: Schema): Schema {
  return { type: "array", items };
}
