import { parse } from "yaml";

/** Most bytes of a `meta.yaml`. */
export const META_BYTES_MAX = 16 * 1024;

/**
 * Reads the members of a `meta.yaml` as texts, so that a name such as `1e5` stays one; a member without a value is absent. Undefined if it is not YAML or
 * not a map.
 */
export function readMetaFile(text: string): Readonly<Record<string, string>> | undefined {
  let content: unknown;
  try {
    content = parse(text, { schema: "failsafe", maxAliasCount: 0, logLevel: "error" });
  } catch {
    return undefined;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) return undefined;
  const members = Object.entries(content).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "null" && entry[1] !== "",
  );
  return Object.fromEntries(members);
}
