import { createHash } from "node:crypto";

/** How long a device login can be approved. */
export const deviceLoginSeconds = 900;

/** How often a device is asked to poll. */
export const pollIntervalSeconds = 5;

// A device that is asked to slow down may give up entirely, so only an interval far below the given one is refused.
const pollGapMinMs = 2500;

// Without 0, 1, I and O, which people confuse. 32 letters: five bits of a byte each.
const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const codeLength = 8;

/** Returns a new code for a person to type: `ABCD-EFGH`. `randomBytes` returns the requested number of unpredictable bytes. */
export function newUserCode(randomBytes: (count: number) => Uint8Array): string {
  const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte % alphabet.length]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** Returns the stored form of a user code: SHA-256 of its letters, independent of case, blanks and hyphens. */
export function hashUserCode(code: string): Uint8Array {
  return createHash("sha256").update(code.toUpperCase().replace(/[\s-]/g, "")).digest();
}

/** The parts of a device login that the rules need. */
export type DeviceLogin = {
  readonly status: "pending" | "approved" | "finished";
  readonly expiresAt: Date;
  readonly lastPolledAt: Date | undefined;
};

/** The outcome of a poll, before the rights of the person who approved are checked. */
export type PollOutcome = "pending" | "approved" | "expired" | "too_fast";

/** Returns the outcome of a poll. A login that has handed out its key counts as expired. */
export function judgePoll(login: DeviceLogin, now: Date): PollOutcome {
  if (login.status === "finished" || login.expiresAt <= now) return "expired";
  if (login.status === "approved") return "approved";
  const { lastPolledAt } = login;
  return lastPolledAt !== undefined && now.getTime() - lastPolledAt.getTime() < pollGapMinMs ? "too_fast" : "pending";
}

/** Returns whether a user code to be approved is unknown, used, or open. */
export function judgeApproval(login: DeviceLogin | undefined, now: Date): "unknown" | "used" | "open" {
  if (login === undefined || login.expiresAt <= now) return "unknown";
  return login.status === "pending" ? "open" : "used";
}
