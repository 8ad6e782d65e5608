import type { Scope } from "@tidemark/credentials";

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
