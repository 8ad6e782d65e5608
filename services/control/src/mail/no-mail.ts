import { AppError } from "@tidemark/errors";
import type { Mail } from "./mail.ts";

/** 503: this installation sends no messages. */
export function mailUnavailable(): AppError {
  return new AppError(
    "email_delivery_unavailable",
    "this installation sends no e-mail, so nobody can be invited by it",
  );
}

/** For installations that want no invitations: sending is refused. */
export const noMail: Mail = {
  available: false,
  sendInvitation: async () => {
    throw mailUnavailable();
  },
};
