import { badRequest } from "@tidemark/errors";
import { ALIAS_SHAPE, RESERVED_ALIAS_SHAPE, UPLOAD_ALIASES_MAX } from "@tidemark/limits";
import { described, list, object, required, withDefault, type Field, type Fields } from "../fields/field.ts";
import { canonicalUuid, text } from "../fields/text.ts";

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

/** Most bytes of the reason for changing or ending something. */
export const REASON_BYTES_MAX = 4096;

/** What callers send to change something that others rely on. */
export const confirmation = object({
  confirm: described(text(), "The alias or the id that the path names."),
  reason: described(text({ bytesMax: REASON_BYTES_MAX }), "Why; kept."),
});

/** Reads the confirmation of a change to what the path names. @throws bad_request */
export function readConfirmation(body: Fields, named: string): { confirm: string; reason: string } {
  const { confirm, reason } = confirmation.read(body);
  const id = canonicalUuid(confirm);
  if (confirm !== named && (id === undefined || id !== canonicalUuid(named))) {
    throw badRequest("confirm must be what the path names", "confirm");
  }
  return { confirm: id ?? confirm, reason };
}
