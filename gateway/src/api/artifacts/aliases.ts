import { badRequest } from "@tidemark/errors";
import { ALIAS_SHAPE, RESERVED_ALIAS_SHAPE, UPLOAD_ALIASES_MAX } from "@tidemark/limits";
import { described, list, required, withDefault, type Field } from "../fields/field.ts";

/** Checks an alias that is to be set. @throws bad_request */
export function requireAlias(value: unknown, name: string): string {
  if (typeof value !== "string" || !ALIAS_SHAPE.test(value)) {
    throw badRequest(`${name} must be 1 to 64 of the characters a-z, 0-9, _, - and .`, name);
  }
  if (RESERVED_ALIAS_SHAPE.test(value)) throw badRequest(`${name} must not be latest or v with a number`, name);
  return value;
}

const alias: Field<string> = required(
  { type: "string", pattern: ALIAS_SHAPE.source, not: { pattern: RESERVED_ALIAS_SHAPE.source } },
  requireAlias,
);

/** Describes the aliases of a new version; repeated ones count once. */
export const aliases: Field<string[]> = described(
  withDefault(list(alias, { itemsMax: UPLOAD_ALIASES_MAX }), []),
  "Aliases that the version gets; `latest` and `v` with a number are taken.",
);
