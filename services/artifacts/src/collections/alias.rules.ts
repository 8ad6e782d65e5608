import { badRequest } from "@tidemark/errors";
import { ALIAS_SHAPE, RESERVED_ALIAS_SHAPE } from "@tidemark/limits";

/** Requires a text that a client may use as an alias. @throws bad_request */
export function requireAlias(alias: string, field = "alias"): void {
  if (!ALIAS_SHAPE.test(alias)) {
    throw badRequest(`${field} must have 1 to 64 lower-case letters, digits, "_", "-" and "."`, field);
  }
  if (RESERVED_ALIAS_SHAPE.test(alias)) throw badRequest(`the alias ${alias} is reserved`, field);
}
