import type { IncomingHttpHeaders } from "node:http";
import { create } from "@bufbuild/protobuf";
import { equalHashes, hashCredential, parseCredential, type ParsedCredential } from "@tidemark/credentials";
import type { AppError } from "@tidemark/errors";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind, type CredentialEntry, type OrganizationEntry } from "@tidemark/proto/control/v1/control";
import { headerNames } from "../http/headers.ts";
import { unauthenticated } from "./callers.ts";
import { identityOf, isLive, isUnended, type Access, type KnownCredential } from "./directory.ts";

/** Turns credentials into identities. Unknown, altered, revoked and expired ones get the same refusal. */
export type Authenticator = {
  /** Parses the text of a credential. @throws unauthenticated when we cannot have issued it as this kind */
  read(kind: "api_key" | "session", token: string): ParsedCredential;
  /**
   * Returns the holder of a credential that memory knows; `undefined` when it has to be looked up. With `fromDeleted` a session may be one in a
   * deleted organization. @throws unauthenticated
   */
  known(credential: ParsedCredential, fromDeleted?: boolean): Identity | undefined;
  /** Looks up the holder of a credential that memory does not know. @throws unauthenticated, service_unavailable */
  lookUp(credential: ParsedCredential, fromDeleted?: boolean): Promise<Identity>;
};

/** Creates an authenticator; `used` is called with every credential that was accepted, `nowMs` is the wall clock. */
export function createAuthenticator(options: {
  readonly access: Access;
  readonly used: (entry: CredentialEntry) => void;
  readonly nowMs: () => number;
}): Authenticator {
  const { access, used, nowMs } = options;
  // One object per entry and organization, so that its encoding for the wire is reused as well.
  const identities = new WeakMap<CredentialEntry, { organization: OrganizationEntry; identity: Identity }>();

  const accept = (known: KnownCredential | undefined, presented: ParsedCredential, fromDeleted = false): Identity => {
    if (known === undefined || !equalHashes(known.entry.hash, presented.hash)) throw invalid();
    // Keys and sessions made from them open nothing in a deleted organization.
    const isValid = fromDeleted && presented.kind === "session" && known.entry.keyId === "" ? isUnended : isLive;
    if (!isValid(known, nowMs())) throw invalid();
    used(known.entry);
    const kept = identities.get(known.entry);
    if (kept !== undefined && kept.organization === known.organization) return kept.identity;
    const identity = identityOf(known);
    identities.set(known.entry, { organization: known.organization, identity });
    return identity;
  };

  return {
    read(kind, token) {
      const presented = parseCredential(token);
      if (presented?.kind !== kind) throw invalid();
      return presented;
    },
    known(presented, fromDeleted) {
      const known = access.known(kindOf(presented), presented.id);
      // Sessions of an organization that is removed end without a change that reaches memory.
      const isDoubtful = fromDeleted === true && known?.organization.deleted === true;
      return known === undefined || isDoubtful ? undefined : accept(known, presented);
    },
    lookUp: async (presented, fromDeleted) =>
      accept(await access.lookUp(kindOf(presented), presented.id), presented, fromDeleted),
  };
}

function kindOf({ kind }: ParsedCredential): CredentialKind {
  return kind === "session" ? CredentialKind.SESSION : CredentialKind.API_KEY;
}

function invalid(): AppError {
  return unauthenticated("invalid or expired credentials");
}

const operator: Identity = create(IdentitySchema, { kind: CallerKind.OPERATOR });

/** Checks the operator's token. @throws unauthenticated when it is missing or wrong, or the installation has none. */
export type OperatorCheck = (token: string | undefined) => Identity;

/** Creates the check. It compares hashes, so that its time reveals neither length nor content. */
export function createOperatorCheck(bootstrapToken: string | undefined): OperatorCheck {
  const expected = bootstrapToken === undefined ? undefined : hashCredential(bootstrapToken);
  return (token) => {
    if (expected === undefined || token === undefined || !equalHashes(expected, hashCredential(token))) {
      throw unauthenticated("invalid bootstrap token");
    }
    return operator;
  };
}

/** The credential of a request, not checked yet. */
export type Presented =
  | { readonly kind: "none" }
  | { readonly kind: "bearer"; readonly token: string }
  /** An `Authorization` header of another scheme. */
  | { readonly kind: "unknown_scheme" }
  | { readonly kind: "cookie"; readonly token: string };

const none: Presented = { kind: "none" };

/**
 * Reads the credential of a request. `Authorization` wins over the session cookie, which has this name (`cookieName`). With `takesBasic` the
 * password of Basic credentials is a token.
 */
export function presentedBy(headers: IncomingHttpHeaders, cookie: string, takesBasic = false): Presented {
  const { authorization } = headers;
  if (authorization !== undefined && authorization.trim() !== "") {
    const text = authorization.trim();
    const token = /^bearer +(\S+)$/i.exec(text)?.[1] ?? (takesBasic ? passwordOf(text) : undefined);
    return token === undefined ? { kind: "unknown_scheme" } : { kind: "bearer", token };
  }
  const token = cookieOf(headers.cookie, cookie);
  return token === undefined ? none : { kind: "cookie", token };
}

/** Returns the password of Basic credentials (RFC 7617), whose user name has no colon. */
function passwordOf(authorization: string): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  return /^[^:]*:(\S+)$/.exec(Buffer.from(encoded, "base64").toString())?.[1];
}

/** Returns the value of a cookie in a `Cookie` header; `undefined` when it is absent or empty. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (equals !== -1 && pair.slice(0, equals).trim() === name) {
      const value = pair.slice(equals + 1).trim();
      return value === "" ? undefined : value;
    }
  }
  return undefined;
}

/** Returns the operator's token under either of its names; `undefined` when it was not sent. */
export function bootstrapTokenOf(headers: IncomingHttpHeaders): string | undefined {
  for (const name of headerNames.bootstrapToken) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
