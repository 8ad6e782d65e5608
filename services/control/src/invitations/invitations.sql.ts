import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../organizations/people.rules.ts";
import type { InvitationStatus } from "./invitations.rules.ts";

/** An invitation. */
export type InvitationRow = {
  org_id: string;
  id: string;
  email: string;
  role: Role;
  status: InvitationStatus;
  created_at: string;
  expires_at: string;
  last_sent_at: string;
  delivery_status: "queued" | "sent" | "failed";
  accepted_at: string | null;
  accepted_by_user_id: string | null;
  revoked_at: string | null;
};

const invitationColumns = `org_id, id, email, role, status, created_at, expires_at, last_sent_at, delivery_status,
  accepted_at, accepted_by_user_id, revoked_at`;

const findInvitationByTokenSql = sql(
  "control_find_invitation_by_token",
  "SELECT org_id, id, hash FROM control.find_invitation($1)",
);

/** Returns the invitation that a token belongs to, by the id in its text. The caller compares the hashes. */
export function findInvitationByToken(
  tx: Tx,
  credentialId: string,
): Promise<{ org_id: string; id: string; hash: Uint8Array } | undefined> {
  return tx.one(findInvitationByTokenSql, [credentialId]);
}

const findInvitationSql = sql(
  "control_find_invitation",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1 AND id = $2`,
);

/** Returns an invitation by id. */
export function findInvitation(tx: Tx, orgId: string, id: string): Promise<InvitationRow | undefined> {
  return tx.one(findInvitationSql, [orgId, id]);
}

const lockInvitationSql = sql(
  "control_lock_invitation",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1 AND id = $2 FOR UPDATE`,
);

/** Returns an invitation and locks it until the transaction ends. */
export function lockInvitation(tx: Tx, orgId: string, id: string): Promise<InvitationRow | undefined> {
  return tx.one(lockInvitationSql, [orgId, id]);
}

const listInvitationsSql = sql(
  "control_list_invitations",
  `SELECT ${invitationColumns} FROM control.invitations WHERE org_id = $1
   ORDER BY created_at DESC, id LIMIT $2 OFFSET $3`,
);

/** Returns an organization's invitations, newest first. */
export function listInvitationRows(
  tx: Tx,
  orgId: string,
  page: { limit: number; offset: number },
): Promise<InvitationRow[]> {
  return tx.rows(listInvitationsSql, [orgId, page.limit, page.offset]);
}

const hasRoomSql = sql(
  "control_count_pending_invitations",
  `SELECT count(*) AS total FROM (
     SELECT FROM control.invitations WHERE org_id = $1 AND status = 'pending' LIMIT $2::bigint) i`,
);

/** Returns whether an organization, which is locked, has fewer than `max` pending invitations. */
export async function hasRoomForInvitation(tx: Tx, orgId: string, max: number): Promise<boolean> {
  return (await tx.one<{ total: number }>(hasRoomSql, [orgId, max]))!.total < max;
}

const removeEndedSql = sql(
  "control_remove_ended_invitations",
  `DELETE FROM control.invitations
   WHERE (org_id, id) IN (SELECT org_id, id FROM control.invitations
                          WHERE status <> 'pending'
                            AND coalesce(accepted_at, revoked_at, expires_at) < $1::timestamptz - interval '90 days' LIMIT $2)`,
);

/** Deletes at most `batch` invitations that ended more than 90 days ago; returns their number. Runs as the worker role. */
export function removeEndedInvitations(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(removeEndedSql, [now.toISOString(), batch]);
}

const insertInvitationSql = sql(
  "control_insert_invitation",
  `INSERT INTO control.invitations
     (org_id, id, email, role, credential_id, hash, invited_by_user_id, created_at, last_sent_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9)
   ON CONFLICT (org_id, email) WHERE status = 'pending' DO NOTHING
   RETURNING ${invitationColumns}`,
);

/** The fields of a new invitation. */
export type NewInvitation = {
  orgId: string;
  id: string;
  email: string;
  role: Role;
  credentialId: string;
  hash: Uint8Array;
  invitedByUserId: string | undefined;
  now: Date;
  expiresAt: Date;
};

/** Inserts an invitation; returns undefined when one for this address is pending. */
export function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<InvitationRow | undefined> {
  return tx.one(insertInvitationSql, [
    invitation.orgId,
    invitation.id,
    invitation.email,
    invitation.role,
    invitation.credentialId,
    invitation.hash,
    invitation.invitedByUserId ?? null,
    invitation.now.toISOString(),
    invitation.expiresAt.toISOString(),
  ]);
}

const setDeliveryStatusSql = sql(
  "control_set_delivery_status",
  `UPDATE control.invitations SET delivery_status = $3 WHERE org_id = $1 AND id = $2 RETURNING ${invitationColumns}`,
);

/** Records whether an invitation's message was sent. */
export async function setDeliveryStatus(
  tx: Tx,
  orgId: string,
  id: string,
  status: "sent" | "failed",
): Promise<InvitationRow> {
  return (await tx.one<InvitationRow>(setDeliveryStatusSql, [orgId, id, status]))!;
}

const renewInvitationSql = sql(
  "control_renew_invitation",
  `UPDATE control.invitations
   SET credential_id = $3, hash = $4, last_sent_at = $5, expires_at = $6, delivery_status = 'queued'
   WHERE org_id = $1 AND id = $2
   RETURNING ${invitationColumns}`,
);

/** Gives an invitation a new token and a new end; the old token no longer works. */
export async function renewInvitation(
  tx: Tx,
  invitation: { orgId: string; id: string; credentialId: string; hash: Uint8Array; now: Date; expiresAt: Date },
): Promise<InvitationRow> {
  const { orgId, id, credentialId, hash, now, expiresAt } = invitation;
  const values = [orgId, id, credentialId, hash, now.toISOString(), expiresAt.toISOString()];
  return (await tx.one<InvitationRow>(renewInvitationSql, values))!;
}

const revokeInvitationSql = sql(
  "control_revoke_invitation",
  `UPDATE control.invitations SET status = 'revoked', revoked_at = $3
   WHERE org_id = $1 AND id = $2 RETURNING ${invitationColumns}`,
);

/** Revokes an invitation. */
export async function revokeInvitationRow(tx: Tx, orgId: string, id: string, now: Date): Promise<InvitationRow> {
  return (await tx.one<InvitationRow>(revokeInvitationSql, [orgId, id, now.toISOString()]))!;
}

const acceptInvitationSql = sql(
  "control_accept_invitation",
  `UPDATE control.invitations SET status = 'accepted', accepted_at = $3, accepted_by_user_id = $4
   WHERE org_id = $1 AND id = $2`,
);

/** Records who accepted an invitation. */
export async function markInvitationAccepted(
  tx: Tx,
  invitation: { orgId: string; id: string; userId: string; now: Date },
): Promise<void> {
  await tx.count(acceptInvitationSql, [
    invitation.orgId,
    invitation.id,
    invitation.now.toISOString(),
    invitation.userId,
  ]);
}

const expireInvitationSql = sql(
  "control_expire_invitation",
  `UPDATE control.invitations SET status = 'expired'
   WHERE org_id = $1 AND email = $2 AND status = 'pending' AND expires_at <= $3`,
);

/** Marks the expired invitation of an address as such, so that the address can be invited again. */
export async function expireInvitation(tx: Tx, orgId: string, email: string, now: Date): Promise<void> {
  await tx.count(expireInvitationSql, [orgId, email, now.toISOString()]);
}

const sweepInvitationsSql = sql(
  "control_sweep_invitations",
  `UPDATE control.invitations SET status = 'expired'
   WHERE (org_id, id) IN (SELECT org_id, id FROM control.invitations
                          WHERE status = 'pending' AND expires_at <= $1 LIMIT $2)`,
);

/** Marks at most `batch` invitations that have expired; returns their number. Runs as the worker role. */
export function sweepInvitations(tx: Tx, now: Date, batch: number): Promise<number> {
  return tx.count(sweepInvitationsSql, [now.toISOString(), batch]);
}
