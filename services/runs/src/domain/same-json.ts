import { exactDecimal } from "./exact-decimal.ts";
import { readJson, writeCanonical } from "./exact-json.ts";

/**
 * Whether two JSON texts say the same: white space and the order of keys do not matter, and numbers
 * are equal when their decimal values are.
 */
export function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  // What most differing values are is known to differ without being read.
  if (isPlain(a) && isPlain(b)) return false;
  return writeCanonical(readJson(a), exactDecimal) === writeCanonical(readJson(b), exactDecimal);
}

/** Texts without escapes, and words: no other JSON says the same. */
function isPlain(json: string): boolean {
  const first = json[0];
  if (first === '"') return !json.includes("\\") && json.endsWith('"');
  return json === "true" || json === "false" || json === "null";
}
