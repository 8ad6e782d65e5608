import { badRequest } from "@tidemark/errors";

/** How long a version is kept: `days` from its creation on, the others without an end. */
export type Retention = {
  readonly mode: "inherit" | "days" | "keep_forever" | "none";
  readonly ttlDays: number | undefined;
};

/** Most days that a version can be given. */
const TTL_DAYS_MAX = 3650;

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
    throw badRequest("retention_mode must be one of inherit, days, keep_forever, none", "retention_mode");
  }
  if (mode !== "days" && ttlDays !== undefined) {
    throw badRequest("ttl_days goes with the retention_mode days only", "ttl_days");
  }
  if (mode === "days" && !(ttlDays !== undefined && ttlDays >= 1 && ttlDays <= TTL_DAYS_MAX)) {
    throw badRequest(`ttl_days must be a whole number from 1 to ${TTL_DAYS_MAX}`, "ttl_days");
  }
  return { mode, ttlDays };
}
