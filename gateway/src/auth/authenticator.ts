import type { AppError } from "@tidemark/errors";
import { equalHashes, parseCredential, type ParsedCredential } from "@tidemark/credentials";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind, type CredentialEntry, type OrganizationEntry } from "@tidemark/proto/control/v1/control";
import type { Access } from "./access.ts";
import { unauthenticated } from "./authorize.ts";
import { identityOf, isLive, type KnownCredential } from "./directory.ts";

/** Turns credentials into identities. Unknown, altered, revoked and expired ones are refused alike. */
export type Authenticator = {
  /** What the text of a credential says. @throws unauthenticated when we cannot have issued it as this kind */
  read(kind: "api_key" | "session", token: string): ParsedCredential;
  /** The holder of a credential that memory knows; `undefined` when it has to be looked up. @throws unauthenticated */
  known(credential: ParsedCredential): Identity | undefined;
  /** The holder of a credential that memory does not know. @throws unauthenticated, service_unavailable */
  lookUp(credential: ParsedCredential): Promise<Identity>;
};

/** Makes an authenticator; `used` is told of every credential that was accepted, `nowMs` is the wall clock. */
export function createAuthenticator(options: {
  readonly access: Access;
  readonly used: (entry: CredentialEntry) => void;
  readonly nowMs: () => number;
}): Authenticator {
  const { access, used, nowMs } = options;
  // One object per entry and organization, so that its encoding for the wire is kept as well.
  const identities = new WeakMap<CredentialEntry, { organization: OrganizationEntry; identity: Identity }>();

  const accept = (known: KnownCredential | undefined, presented: ParsedCredential): Identity => {
    if (known === undefined || !equalHashes(known.entry.hash, presented.hash) || !isLive(known, nowMs())) {
      throw invalid();
    }
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
    known(presented) {
      const known = access.known(kindOf(presented), presented.id);
      return known === undefined ? undefined : accept(known, presented);
    },
    lookUp: async (presented) => accept(await access.lookUp(kindOf(presented), presented.id), presented),
  };
}

function kindOf({ kind }: ParsedCredential): CredentialKind {
  return kind === "session" ? CredentialKind.SESSION : CredentialKind.API_KEY;
}

function invalid(): AppError {
  return unauthenticated("invalid or expired credentials");
}
