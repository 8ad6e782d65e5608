import { badRequest } from "@tidemark/errors";

const ALIAS = /^[a-z0-9_.-]{1,64}$/;
const RESERVED = /^(latest|v[0-9]+)$/;

/** Requires a text that a client may use as an alias. @throws bad_request */
export function requireAlias(alias: string, field = "alias"): void {
  if (!ALIAS.test(alias)) {
    throw badRequest(`${field} must have 1 to 64 lower-case letters, digits, "_", "-" and "."`, field);
  }
  if (RESERVED.test(alias)) throw badRequest(`the alias ${alias} is reserved`, field);
}
