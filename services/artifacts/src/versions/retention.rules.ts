import { badRequest } from "@tidemark/errors";
import { RETENTION_MODES, TTL_DAYS } from "@tidemark/limits";

/** How long a version is kept: `days` from its creation on, in the other modes without an end. */
export type Retention = {
  readonly mode: (typeof RETENTION_MODES)[number];
  readonly ttlDays: number | undefined;
};

const modes: Readonly<Record<string, Retention["mode"]>> = {
  "": "inherit",
  inherit: "inherit",
  days: "days",
  keep_forever: "keep_forever",
  forever: "keep_forever",
  none: "none",
};

/** Reads how long a version is to be kept. @throws bad_request */
export function readRetention(text: string, ttlDays: number | undefined): Retention {
  const mode = Object.hasOwn(modes, text) ? modes[text] : undefined;
  if (mode === undefined) {
    throw badRequest(`retention_mode must be one of ${RETENTION_MODES.join(", ")}`, "retention_mode");
  }
  if (mode !== "days" && ttlDays !== undefined) {
    throw badRequest("ttl_days goes with the retention_mode days only", "ttl_days");
  }
  if (mode === "days" && !(ttlDays !== undefined && ttlDays >= TTL_DAYS.min && ttlDays <= TTL_DAYS.max)) {
    throw badRequest(`ttl_days must be a whole number from ${TTL_DAYS.min} to ${TTL_DAYS.max}`, "ttl_days");
  }
  return { mode, ttlDays };
}

/** Compares the text that a request repeats as its confirmation, and requires its reason. @throws bad_request */
export function requireConfirmation(
  { confirm, reason }: { readonly confirm: string; readonly reason: string },
  expected: string,
  what: string,
): void {
  if (confirm !== expected) throw badRequest(`confirm must be ${what}`, "confirm");
  if (reason.trim() === "") throw badRequest("reason is required", "reason");
}
