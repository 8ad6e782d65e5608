import { AppError } from "@tidemark/errors";

const daySeconds = 24 * 60 * 60;

/** How long an invitation can be accepted, from its last sending. */
const invitationSeconds = 7 * daySeconds;

/** How long after its last sending an invitation cannot be sent again. */
const resendPauseSeconds = 15 * 60;

/** The status of an invitation. One past its end is `expired` whether or not its row is marked yet. */
export type InvitationStatus = "pending" | "accepted" | "revoked" | "expired";

/** The parts of an invitation that the rules need. */
export type InvitationState = {
  readonly status: InvitationStatus;
  readonly expiresAt: Date;
  readonly lastSentAt: Date;
  /** Whether the last message could not be sent, so that there is no reason to wait. */
  readonly sendingFailed: boolean;
};

/** Returns when an invitation that is sent now expires. */
export function invitationEnd(now: Date): Date {
  return new Date(now.getTime() + invitationSeconds * 1000);
}

/** Returns the status of an invitation at a time. */
export function statusAt(
  { status, expiresAt }: Pick<InvitationState, "status" | "expiresAt">,
  now: Date,
): InvitationStatus {
  return status === "pending" && expiresAt <= now ? "expired" : status;
}

/** Checks that an invitation can be sent again. @throws conflict unless it is pending; invite_expired; invite_resend_rate_limited within 15 minutes of the last sending */
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

/** Checks that an invitation can be revoked. @throws conflict unless it is pending */
export function requireRevocable(invitation: Pick<InvitationState, "status" | "expiresAt">, now: Date): void {
  if (statusAt(invitation, now) !== "pending") {
    throw new AppError("conflict", "only a pending invitation can be revoked");
  }
}

/** Returns the error for an invitation that was not accepted in time. */
export function inviteExpired(): AppError {
  return new AppError("invite_expired", "the invitation has expired");
}
