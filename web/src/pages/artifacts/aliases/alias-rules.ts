import { ALIAS_SHAPE, RESERVED_ALIAS_SHAPE } from "@tidemark/limits";
import type { Version } from "../../../artifacts/artifact-types.ts";

/** Returns why a text cannot be an alias, in a sentence; undefined if it can. The server decides by the same rules. */
export function aliasFault(alias: string): string | undefined {
  if (alias === "latest") return "latest always points at the newest version, so it cannot be set.";
  if (RESERVED_ALIAS_SHAPE.test(alias))
    return `${alias} is the name of a version. Choose a name that is not v with a number.`;
  if (alias.length > 64) return "An alias has at most 64 characters.";
  if (!ALIAS_SHAPE.test(alias)) return "An alias has only the characters a-z, 0-9, _, - and the dot.";
  return undefined;
}

/** Whether an alias of a version can be removed: `latest` is computed. */
export const isRemovable = (alias: string): boolean => !RESERVED_ALIAS_SHAPE.test(alias);

/** Returns the version that an alias points at, of those that are known. */
export const holderOf = (alias: string, versions: readonly Version[]): Version | undefined =>
  versions.find(({ aliases }) => aliases.includes(alias));
