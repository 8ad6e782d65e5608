import { isExactNumber, writeCanonical, type ExactJson } from "@tidemark/documents";

/** Yields the values of a config that are no objects, as compact JSON, with their paths: nested keys are joined by points. Null counts as missing. */
export function* leavesOf(value: ExactJson, prefix = ""): Generator<readonly [path: string, json: string]> {
  if (value === null) return;
  if (typeof value !== "object" || Array.isArray(value) || isExactNumber(value)) {
    yield [prefix.slice(0, -1), writeCanonical(value)];
    return;
  }
  for (const [key, member] of Object.entries(value)) yield* leavesOf(member, `${prefix}${key}.`);
}
