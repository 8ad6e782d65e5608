import type { Scope } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";

/** The roles of a member of an organization. */
export type Role = "owner" | "admin" | "member" | "viewer";

/**
 * Who may call a route. A key needs one of `scopes` (an empty list: any key) or each of `allScopes`,
 * a session one of `roles`; a kind that is refused names its status.
 */
export type Callers =
  | { readonly kind: "anyone" }
  | {
      readonly kind: "credentials";
      readonly key:
        | { readonly scopes: readonly Scope[] }
        | { readonly allScopes: readonly Scope[] }
        | { readonly refused: 401 | 403 };
      readonly session: { readonly roles: readonly Role[] } | { readonly refused: 401 | 403 };
      /** The operator's bootstrap token opens it as well. */
      readonly operator?: boolean;
      /** Sessions in a deleted organization, which open no other routes, open it as well. */
      readonly fromDeleted?: boolean;
      /**
       * Any client may call it, and the service decides by the row what they see. A client without credentials that would open the route has no
       * identity and counts against its address; when the service requires credentials, the answer says what is wrong with those that were sent.
       */
      readonly orAnyone?: boolean;
    }
  /** The token of the embed session that the path names; the identity belongs to the key that made it. */
  | { readonly kind: "embed" }
  /** The operator's bootstrap token only. */
  | { readonly kind: "operator" };

/** Who may call a route that needs credentials. */
export type CredentialCallers = Extract<Callers, { kind: "credentials" }>;

/** Returns a 401 with a text for the caller. */
export function unauthenticated(text: string): AppError {
  return new AppError("unauthenticated", text);
}

/**
 * Refuses a kind of credential that a route does not take, with the status that the route
 * names. Called before the check of scopes and roles, and for sessions before the `Origin` check. A session that was made from a key may be
 * used where both kinds may, and then by the scopes of the key; on routes for users it gets 403.
 * @throws unauthenticated, forbidden
 */
export function checkKind(callers: CredentialCallers, { kind }: Identity, presented: "api_key" | "session"): void {
  if (presented === "session" && "refused" in callers.session) {
    throw refusal(callers.session.refused, "this route needs an api key");
  }
  if (kind === CallerKind.API_KEY && "refused" in callers.key) {
    if (presented === "session") throw refusal(403, "this route needs the session of a user");
    throw refusal(callers.key.refused, "this route needs a signed-in session");
  }
}

function refusal(status: 401 | 403, text: string): AppError {
  return new AppError(status === 401 ? "unauthenticated" : "forbidden", text);
}

/**
 * Checks that a key has one of the route's scopes, or all of `allScopes`, and a session one of
 * its roles. Operators need neither on routes that are open to them.
 * @throws forbidden, naming what is missing
 */
export function checkRights(callers: CredentialCallers, identity: Identity): void {
  if (identity.kind === CallerKind.API_KEY) checkScopes(callers.key, identity.scopes);
  if (identity.kind === CallerKind.SESSION && "roles" in callers.session) {
    const { roles } = callers.session;
    if (!roles.includes(identity.role as Role)) {
      throw new AppError("forbidden", `session requires the role ${roles.join(" or ")}`);
    }
  }
}

function checkScopes(key: CredentialCallers["key"], held: readonly string[]): void {
  if ("scopes" in key && key.scopes.length > 0 && !key.scopes.some((scope) => held.includes(scope))) {
    throw new AppError("forbidden", `api key requires ${key.scopes.join(" or ")}`);
  }
  const missing = "allScopes" in key ? key.allScopes.filter((scope) => !held.includes(scope)) : [];
  if (missing.length > 0) throw new AppError("forbidden", `api key requires ${missing.join(" and ")}`);
}
