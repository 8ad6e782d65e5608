import type { Schema } from "../route.ts";

// JSON Schemas that the answers of several families share.

export const uuidSchema: Schema = { type: "string", format: "uuid" };
export const uuidOrNullSchema: Schema = { type: ["string", "null"], format: "uuid" };
export const timeSchema: Schema = { type: "string", format: "date-time" };
export const timeOrNullSchema: Schema = { type: ["string", "null"], format: "date-time" };
export const textSchema: Schema = { type: "string" };
export const textOrNullSchema: Schema = { type: ["string", "null"] };
export const numberSchema: Schema = { type: "number" };
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
