import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { ACCOUNT_LIMITS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { NewSessionSchema, SessionSchema, SessionViewSchema } from "@tidemark/proto/control/v1/control";
import type { ControlDeps } from "../deps.ts";
import type { SignedIn } from "../organizations/callers.ts";
import {
  encodeMembership,
  encodeMembershipSummaries,
  encodeOrganization,
  encodeUser,
} from "../organizations/encode-organization.ts";
import { findMembership, listMembershipsOfUser, lockMembership } from "../organizations/memberships.sql.ts";
import { enterOrganization, findOrganization } from "../organizations/organizations.sql.ts";
import { findUser } from "../organizations/users.sql.ts";
import { announceChange } from "../projection/commit-projection-change.ts";
import { endOldestSessions, insertSession, revokeSession, type SessionRow } from "./sessions.sql.ts";

/** How long a browser's session lasts, from sign-in. */
const sessionSeconds = 30 * 24 * 60 * 60;

/**
 * Creates a session of an active member; beyond the limit their oldest ones end. The transaction has entered the organization.
 * @throws forbidden when the user is not an active member
 */
export async function openSession(
  tx: Tx,
  { newId, randomBytes, now }: Pick<ControlDeps, "newId" | "randomBytes" | "now">,
  member: { orgId: string; userId: string },
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  // Who removes the member waits until the session can be seen, and ends it.
  const membership = await lockMembership(tx, member.orgId, member.userId);
  if (membership?.status !== "active") throw notMember();
  const credential = issueCredential("session", randomBytes);
  const begin = now();
  const session = await insertSession(tx, {
    orgId: member.orgId,
    id: newId(),
    userId: member.userId,
    credentialId: credential.id,
    hash: credential.hash,
    now: begin,
    expiresAt: new Date(begin.getTime() + sessionSeconds * 1000),
  });
  await endOldestSessions(tx, { ...member, keep: ACCOUNT_LIMITS.liveSessionsMax, now: begin });
  const view = await viewSession(tx, session);
  if (view === undefined) throw notMember();
  return { view, token: credential.text, maxAgeSeconds: sessionSeconds };
}

function notMember(): AppError {
  return new AppError("forbidden", "the user is no active member of the organization");
}

/**
 * Ends the caller's session and opens one in another organization: with a new session instead of a changed one no
 * process can mistake it for what it was. The transaction is in the new organization afterwards.
 * @throws unauthenticated when the caller's session has ended
 */
export async function tradeSession(
  tx: Tx,
  deps: ControlDeps,
  caller: SignedIn,
  orgId: string,
): Promise<MessageInitShape<typeof NewSessionSchema>> {
  await enterOrganization(tx, caller.orgId);
  // A gateway that does not know yet that the session has ended lets it in, but it opens nothing anymore.
  const alive = await revokeSession(tx, caller.orgId, caller.credentialId, deps.now());
  if (!alive) throw new AppError("unauthenticated", "the session has ended");
  await enterOrganization(tx, orgId);
  const created = await openSession(tx, deps, { orgId, userId: caller.userId });
  await announceChange(tx, orgId);
  return created;
}

/**
 * Returns a session with what the dashboard shows of it; undefined when its organization was deleted or its user is not
 * an active member. The transaction has entered the session's organization.
 */
export async function viewSession(
  tx: Tx,
  session: SessionRow,
): Promise<MessageInitShape<typeof SessionViewSchema> | undefined> {
  const user = await findUser(tx, session.user_id);
  const organization = await findOrganization(tx, session.org_id);
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

function encodeSession(row: SessionRow): MessageInitShape<typeof SessionSchema> {
  return {
    id: row.id,
    userId: row.user_id,
    orgId: row.org_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? "",
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? "",
  };
}
