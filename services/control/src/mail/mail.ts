import type { Log } from "@tidemark/telemetry";
import { AppError } from "@tidemark/errors";

/** The message of an invitation, to a person who may not be a user yet. */
export type InvitationMessage = {
  readonly to: string;
  readonly organizationName: string;
  readonly role: string;
  /** Address of the page where the invited person accepts; contains the token. */
  readonly link: string;
  readonly expiresAt: string;
  readonly invitationId: string;
  readonly orgId: string;
};

/** How messages reach people; a setting chooses the driver. */
export type Mail = {
  /** False when nothing can be sent; invitations are then refused before anything is stored. */
  readonly available: boolean;
  /**
   * Sends an invitation. Drivers that do not reach a mailbox return a `previewLink`, which the inviting person passes on.
   * Throws when the message was not accepted.
   */
  sendInvitation(message: InvitationMessage): Promise<{ previewLink?: string }>;
};

/**
 * Creates mail that sends nothing: it logs that there would be a message and returns the link for the inviting person.
 * The link itself stays out of the log, because anyone who reads it could accept the invitation.
 */
export function createLogMail(log: Log): Mail {
  return {
    available: true,
    sendInvitation: async ({ link, orgId, invitationId }) => {
      log.info("invitation ready; no mail server is set, so its link goes to the person who invited", {
        org_id: orgId,
        invitation_id: invitationId,
      });
      return { previewLink: link };
    },
  };
}

/** Returns the error of an installation that does not send messages. */
export function mailUnavailable(): AppError {
  return new AppError(
    "email_delivery_unavailable",
    "this installation cannot send e-mail, so it cannot send invitations",
  );
}

/** Mail of an installation without invitations: refuses to send. */
export const noMail: Mail = {
  available: false,
  sendInvitation: async () => {
    throw mailUnavailable();
  },
};
