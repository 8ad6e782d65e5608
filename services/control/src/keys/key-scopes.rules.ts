import { scopes, type Scope } from "@tidemark/credentials";
import { AppError, badRequest } from "@tidemark/errors";

/** The scopes of a new key when the request names none. */
const defaultScopes: readonly Scope[] = ["sdk:ingest", "export:read"];

/** Returns the scopes of a new key, each once: the requested ones, or the default. @throws bad_request for an unknown scope */
export function chooseScopes(asked: readonly string[]): readonly Scope[] {
  if (asked.length === 0) return defaultScopes;
  for (const scope of asked) {
    if (!(scopes as readonly string[]).includes(scope)) {
      throw badRequest(`scopes must be some of ${scopes.join(", ")}`, "scopes");
    }
  }
  return scopes.filter((scope) => asked.includes(scope));
}

/** Checks that a credential grants only what it holds itself. @throws forbidden */
export function requireHeld(wanted: readonly Scope[], held: readonly string[]): void {
  const missing = wanted.find((scope) => !held.includes(scope));
  if (missing !== undefined) throw new AppError("forbidden", `the caller does not hold ${missing} and cannot grant it`);
}
