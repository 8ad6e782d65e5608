import { isExactNumber, type ExactJson } from "@tidemark/documents";
import { documentPaths } from "./column.rules.ts";

/** Returns the value that a config has at a path: at the first of the places of `documentPaths` that it has; undefined: at none of them. */
export function configValueAt(config: ExactJson, path: string): ExactJson | undefined {
  for (const keys of documentPaths(path)) {
    let value: ExactJson | undefined = config;
    for (const key of keys) value = memberOf(value, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

function memberOf(value: ExactJson | undefined, key: string): ExactJson | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value) || isExactNumber(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, ExactJson>)[key] : undefined;
}
