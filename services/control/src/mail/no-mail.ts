import { AppError } from "@tidemark/errors";
import type { Mail } from "./mail.ts";

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
