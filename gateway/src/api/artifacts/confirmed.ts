import { badRequest } from "@tidemark/errors";
import { described, object, type Fields } from "../fields/field.ts";
import { canonicalUuid, text } from "../fields/text.ts";

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
