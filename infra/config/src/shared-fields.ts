import { bool, text } from "./fields.ts";

/** Settings that several modules read; described once, because one variable has one description. */
export const sharedFields = {
  limits: bool({
    env: "TIDEMARK_LIMITS",
    default: true,
    help: "Rate limits and plan quotas. Off: nothing is counted and no rate limit header is sent; size limits stay.",
  }),
  plansFile: text({
    env: "TIDEMARK_PLANS_FILE",
    optional: true,
    help: "JSON file with any of free, pro, premium and any of their fields rate_limit_rps, rate_limit_burst, ingest_rate_limit_rps, included_seats, projects, runs; replaces those of the hosted plans.",
  }),
} as const;
