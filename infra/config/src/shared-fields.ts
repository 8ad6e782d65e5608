import { bool } from "./fields.ts";

/** Settings that several modules read; described once, because one variable has one description. */
export const sharedFields = {
  limits: bool({
    env: "TIDEMARK_LIMITS",
    default: true,
    help: "Rate limits and plan quotas. Off: nothing is counted and no rate limit header is sent; size limits stay.",
  }),
} as const;
