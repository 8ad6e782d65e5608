import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../items.ts";
import { boundedJson, isObject } from "../json.ts";

/** Most bytes of a `params.yaml`. */
export const PARAMS_BYTES_MAX = 64 * 1024;

/** Reads a `params.yaml`; undefined if it is not YAML or not a map. */
export function readParamsFile(text: string): JsonObject | undefined {
  try {
    const content = boundedJson(parse(text, { schema: "core", intAsBigInt: true, logLevel: "error" }) as JsonValue);
    return isObject(content) ? content : undefined;
  } catch {
    return undefined;
  }
}
