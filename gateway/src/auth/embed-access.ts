import { parseCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import type { EmbedSession } from "@tidemark/proto/reports/v1/embeds";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../clients.ts";
import { requireMessage } from "../api/replies.ts";
import { unauthenticated } from "./callers.ts";
import { identityOf, isLive, type Access, type KnownCredential } from "./directory.ts";

/** An embed session whose token was right, and the identity of the key that made it. */
export type OpenEmbed = { readonly session: EmbedSession; readonly identity: Identity };

/** Finds embed sessions. They are not cached: each request looks up the session and the current state of its key. */
export type EmbedAccess = {
  /** @throws unauthenticated, forbidden when the key may no longer do what it could, not_found for an id that is not a UUID, service_unavailable */
  open(sessionId: string, token: string, call: Call): Promise<OpenEmbed>;
  /** Returns whether the key of a session may do what it could when it made the session. @throws service_unavailable */
  isSourceActive(session: EmbedSession): Promise<boolean>;
};

/** The scope that a key needs for its embed sessions to show data. */
const SCOPE = "export:read";

/** Creates the access; `nowMs` is the wall clock. */
export function createEmbedAccess(options: {
  readonly clients: Clients;
  readonly access: Access;
  readonly nowMs: () => number;
}): EmbedAccess {
  const { clients, access, nowMs } = options;
  const findSource = async (session: EmbedSession): Promise<KnownCredential | undefined> => {
    const { API_KEY } = CredentialKind;
    const known = access.known(API_KEY, session.keyId) ?? (await access.lookUp(API_KEY, session.keyId));
    return known !== undefined && isLive(known, nowMs()) && isUnchanged(known, session) ? known : undefined;
  };
  return {
    async open(sessionId, token, call) {
      if (parseCredential(token)?.kind !== "embed") throw unauthenticated("invalid or expired embed token");
      const { session: found } = await clients.reports.openEmbedSession({ sessionId, token }, call);
      const session = requireMessage(found);
      const source = await findSource(session);
      if (source === undefined) throw new AppError("forbidden", "the api key of this embed session is not what it was");
      return { session, identity: identityOf(source) };
    },
    isSourceActive: async (session) => (await findSource(session)) !== undefined,
  };
}

function isUnchanged({ entry }: KnownCredential, session: EmbedSession): boolean {
  const { orgId, projectId, scopes } = session;
  if (entry.orgId !== orgId || entry.projectId !== projectId || !entry.scopes.includes(SCOPE)) return false;
  return new Set(entry.scopes).symmetricDifference(new Set(scopes)).size === 0;
}
