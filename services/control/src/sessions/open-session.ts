import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { ACCOUNT_LIMITS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { NewSessionSchema, SessionSchema, SessionViewSchema } from "@tidemark/proto/control/v1/control";
import type { ControlDeps } from "../deps.ts";
import type { SignedIn } from "../organizations/users.ts";
import {
  encodeMembership,
  encodeMembershipSummaries,
  encodeOrganization,
  encodeUser,
} from "../organizations/encode-organization.ts";
import { findMembership, listMembershipsOfUser, lockMembership } from "../organizations/memberships.sql.ts";
import { enterOrganization, findOrganization, type OrganizationRow } from "../organizations/organizations.sql.ts";
import { findUser } from "../organizations/users.sql.ts";
import { announceChange, lockLiveKey } from "../projection/lock-caller.ts";
import { lockKey } from "../projection/projection.sql.ts";
import {
  endOldestSessions,
  endOldestSessionsOfKey,
  insertSession,
  revokeSession,
  type SessionOwner,
  type SessionRow,
} from "./sessions.sql.ts";

/** How long a browser's session lasts, from sign-in. */
const sessionSeconds = 30 * 24 * 60 * 60;

/**
 * Creates a session of an active member; beyond the limit their oldest ones end. The transaction has entered the organization.
 * @throws forbidden when the user is not an active member
 */
export async function openSession(
  tx: Tx,
  deps: Pick<ControlDeps, "newId" | "randomBytes" | "now">,
  member: { orgId: string; userId: string },
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  // A transaction that removes the member waits until the session is visible, and ends it.
  const membership = await lockMembership(tx, member.orgId, member.userId);
  if (membership?.status !== "active") throw notMember();
  const begin = deps.now();
  const { session, token } = await issueSession(tx, deps, {
    orgId: member.orgId,
    owner: { userId: member.userId },
    begin,
  });
  await endOldestSessions(tx, { ...member, keep: ACCOUNT_LIMITS.liveSessionsMax, now: begin });
  const view = await viewSession(tx, session);
  if (view === undefined) throw notMember();
  return { view, token, maxAgeSeconds: sessionSeconds };
}

/** A session that is to be made, from `begin` on. */
type Opening = {
  readonly orgId: string;
  readonly owner: SessionOwner;
  readonly begin: Date;
  readonly end?: Date | undefined;
};

/** Inserts a session under a new text. It ends by itself after its time, or at `end` if that is earlier. */
async function issueSession(
  tx: Tx,
  { newId, randomBytes }: Pick<ControlDeps, "newId" | "randomBytes">,
  { orgId, owner, begin, end }: Opening,
): Promise<{ session: SessionRow; token: string; expiresAt: Date }> {
  const credential = issueCredential("session", randomBytes);
  const last = new Date(begin.getTime() + sessionSeconds * 1000);
  const expiresAt = end !== undefined && end < last ? end : last;
  const { id: credentialId, hash } = credential;
  const session = await insertSession(tx, { orgId, id: newId(), owner, credentialId, hash, now: begin, expiresAt });
  return { session, token: credential.text, expiresAt };
}

/**
 * Creates a session of a key, which has the rights of the key and ends with it; beyond the limit the oldest ones of the key end. The transaction has
 * entered the organization.
 * @throws unauthenticated when the key has ended meanwhile
 */
export async function openSessionOfKey(
  tx: Tx,
  deps: Pick<ControlDeps, "newId" | "randomBytes" | "now">,
  { orgId, keyId }: { readonly orgId: string; readonly keyId: string },
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  const begin = deps.now();
  // A transaction that revokes the key waits until the session is visible, and ends it.
  const key = await lockLiveKey(tx, orgId, keyId, begin);
  const end = key.expires_at === null ? undefined : new Date(key.expires_at);
  const { session, token, expiresAt } = await issueSession(tx, deps, { orgId, owner: { keyId }, begin, end });
  await endOldestSessionsOfKey(tx, { orgId, keyId, keep: ACCOUNT_LIMITS.liveSessionsMax, now: begin });
  const view = await viewSession(tx, session);
  if (view === undefined) throw new AppError("unauthenticated", "invalid or expired credentials");
  return { view, token, maxAgeSeconds: Math.ceil((expiresAt.getTime() - begin.getTime()) / 1000) };
}

function notMember(): AppError {
  return new AppError("forbidden", "the user is no active member of the organization");
}

/**
 * Ends the caller's session and opens one in another organization: with a new session instead of a changed one no
 * process can mistake it for the old one. The transaction is in the new organization afterwards.
 * @throws unauthenticated when the caller's session has ended
 */
export async function tradeSession(
  tx: Tx,
  deps: ControlDeps,
  caller: SignedIn,
  orgId: string,
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  await enterOrganization(tx, caller.orgId);
  // A gateway that does not know yet that the session has ended admits it, but it can no longer open a session.
  const alive = await revokeSession(tx, caller.orgId, caller.credentialId, deps.now());
  if (!alive) throw new AppError("unauthenticated", "the session has ended");
  await enterOrganization(tx, orgId);
  const created = await openSession(tx, deps, { orgId, userId: caller.userId });
  await announceChange(tx, orgId);
  return created;
}

/**
 * Returns a session with the data that the dashboard shows; undefined when its organization was deleted or its user is not
 * an active member. The transaction has entered the session's organization.
 */
export async function viewSession(
  tx: Tx,
  session: SessionRow,
): Promise<MessageInitShape<typeof SessionViewSchema> | undefined> {
  const organization = await findOrganization(tx, session.org_id);
  if (session.user_id === null) return organization && viewSessionOfKey(tx, session, organization);
  const user = await findUser(tx, session.user_id);
  const membership = await findMembership(tx, session.org_id, session.user_id);
  if (user === undefined || organization === undefined || membership?.status !== "active") return undefined;
  return {
    session: encodeSession(session),
    user: encodeUser(user),
    organization: encodeOrganization(organization),
    membership: encodeMembership(membership),
    memberships: encodeMembershipSummaries(await listMembershipsOfUser(tx, user.id), session.org_id),
  };
}

/** The same for a session of a key, which has no user and no membership. */
async function viewSessionOfKey(
  tx: Tx,
  session: SessionRow,
  organization: OrganizationRow,
): Promise<MessageInitShape<typeof SessionViewSchema> | undefined> {
  const key = await lockKey(tx, session.org_id, session.key_id!);
  if (key === undefined || key.revoked_at !== null) return undefined;
  return {
    session: encodeSession(session),
    organization: encodeOrganization(organization),
    keyRights: { scopes: key.scopes, projectId: key.project_id ?? "" },
  };
}

/** Returns a session as a message; null becomes the empty text. */
export function encodeSession(row: Omit<SessionRow, "key_id">): MessageInitShape<typeof SessionSchema> {
  return {
    id: row.id,
    userId: row.user_id ?? "",
    orgId: row.org_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? "",
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? "",
  };
}
