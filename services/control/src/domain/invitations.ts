import { AppError } from "@tidemark/errors";

const daySeconds = 24 * 60 * 60;

/** How long an invitation can be accepted, from its last sending. */
const invitationSeconds = 7 * daySeconds;

/** How long an invitation cannot be sent again after it was sent. */
const resendPauseSeconds = 15 * 60;

/** How an invitation stands; one that ran out is `expired` whether or not the row says so yet. */
export type InvitationStatus = "pending" | "accepted" | "revoked" | "expired";

/** What the rules look at. */
export type InvitationState = {
  readonly status: InvitationStatus;
  readonly expiresAt: Date;
  readonly lastSentAt: Date;
  /** The last message could not be sent, so there is no reason to wait. */
  readonly sendingFailed: boolean;
};

/** When an invitation sent now runs out. */
export function invitationEnd(now: Date): Date {
  return new Date(now.getTime() + invitationSeconds * 1000);
}

/** The status at a moment. */
export function statusAt(
  { status, expiresAt }: Pick<InvitationState, "status" | "expiresAt">,
  now: Date,
): InvitationStatus {
  return status === "pending" && expiresAt <= now ? "expired" : status;
}

/** @throws conflict unless pending, invite_expired, invite_resend_rate_limited within 15 minutes of the last time */
export function requireResendable(invitation: InvitationState, now: Date): void {
  const status = statusAt(invitation, now);
  if (status === "expired") throw inviteExpired();
  if (status !== "pending") throw new AppError("conflict", "only a pending invitation can be sent again");
  if (invitation.sendingFailed) return;
  const secondsSince = (now.getTime() - invitation.lastSentAt.getTime()) / 1000;
  if (secondsSince < resendPauseSeconds) {
    throw new AppError("invite_resend_rate_limited", "the invitation was sent a short while ago", {
      retryAfterSeconds: Math.ceil(resendPauseSeconds - secondsSince),
    });
  }
}

/** @throws conflict unless pending */
export function requireRevocable(invitation: Pick<InvitationState, "status" | "expiresAt">, now: Date): void {
  if (statusAt(invitation, now) !== "pending") {
    throw new AppError("conflict", "only a pending invitation can be revoked");
  }
}

/** 410: an invitation that nobody accepted in time. */
export function inviteExpired(): AppError {
  return new AppError("invite_expired", "the invitation has expired");
}
