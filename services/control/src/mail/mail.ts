import type { Log } from "@tidemark/telemetry";
import { AppError } from "@tidemark/errors";
import { invitationText, type SmtpSettings } from "./mail.rules.ts";

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

type SmtpMailOptions = {
  readonly log: Log;
  /** How long a message may take in total; default 6 seconds, because the request that sends it has ten. */
  readonly sendingMs?: number | undefined;
};

/**
 * Creates mail that a mail server delivers, each message over a connection of its own. The server's certificate must be valid
 * for its name. What it refuses is logged without the address and the link.
 */
export function createSmtpMail(settings: SmtpSettings, { log, sendingMs = 6_000 }: SmtpMailOptions): Mail {
  const { host, port, tls, login, from } = settings;
  return {
    available: true,
    async sendInvitation(message) {
      // Imported here, because most installations do not need to load it.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        host,
        port,
        secure: tls === "start",
        requireTLS: tls === "upgrade",
        ignoreTLS: tls === "none",
        ...(login && { auth: { user: login.user, pass: login.password } }),
      });
      try {
        await transport.sendMail({
          // As objects, because a text could have several addresses in it.
          from: { name: "Tidemark", address: from },
          to: { name: "", address: message.to },
          ...invitationText(message),
          // Asks automatic readers not to answer (RFC 3834, section 5).
          headers: { "Auto-Submitted": "auto-generated" },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.timeout(sendingMs),
        });
      } catch (error) {
        const { code, command, responseCode } = error as Readonly<Record<string, unknown>>;
        log.warn("an invitation could not be sent", {
          org_id: message.orgId,
          invitation_id: message.invitationId,
          smtp: { code, command, status: responseCode },
        });
        throw error;
      }
      return {};
    },
  };
}
