import type { JsonObject, JsonValue } from "./items.ts";
import { isObject, JSON_DEPTH_MAX, pointNumberOf } from "./json.ts";
import type { Warnings } from "./warnings.ts";

/** A part of a value that was logged under a key: a number, a text, or an object whose `_type` says what it is. */
export type LoggedPart = { readonly key: string } & (
  | { readonly number: number }
  | { readonly text: string }
  | { readonly type: string; readonly value: JsonObject }
);

/** Yields the parts of a value; keys of nested objects are joined by dots. Values of other kinds are counted; null is skipped. */
export function* loggedParts(key: string, value: JsonValue, warnings: Warnings, depth = 0): Generator<LoggedPart> {
  const number = pointNumberOf(value, key, warnings);
  if (number !== undefined) yield { key, number };
  else if (typeof value === "string") yield { key, text: value };
  else if (!isObject(value)) {
    if (value !== null) warnings.add("unsupported", `${key}: a list`);
  } else if (typeof value["_type"] === "string") yield { key, type: value["_type"], value };
  else if (depth === JSON_DEPTH_MAX) warnings.add("too_large", `${key}: keys are nested too deep`);
  else
    for (const [inner, part] of Object.entries(value)) yield* loggedParts(`${key}.${inner}`, part, warnings, depth + 1);
}
