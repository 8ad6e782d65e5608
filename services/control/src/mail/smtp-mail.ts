import type { Log } from "@tidemark/telemetry";
import { invitationText } from "./invitation-text.rules.ts";
import type { SmtpSettings } from "./mail-settings.rules.ts";
import type { Mail } from "./mail.ts";

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
