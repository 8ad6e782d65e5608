import type { Log } from "@tidemark/telemetry";
import type { Mail } from "./mail.ts";

/**
 * Sends nothing: notes in the log that there would be a message, and gives the link to the inviting
 * person instead. The link itself stays out of the log, because whoever reads it could accept.
 */
export function createLogMail(log: Log): Mail {
  return {
    available: true,
    sendInvitation: async ({ link, orgId, invitationId }) => {
      log.info("invitation ready; no mail driver is configured, so its link goes to the person who invited", {
        org_id: orgId,
        invitation_id: invitationId,
      });
      return { previewLink: link };
    },
  };
}
