import type { Log } from "@tidemark/telemetry";
import type { Mail } from "./mail.ts";

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
