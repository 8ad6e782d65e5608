import { planOf, type Month, type Plan, type Plans, type PlanTier } from "@tidemark/limits";
import { AppError } from "@tidemark/errors";
import type { Rate } from "./token-bucket.ts";

/**
 * The bucket of the organization in which a request is counted (API specification, Rate limits); `account` is a bucket for each credential. On routes
 * for anyone, every class except `none` means the bucket of the client's address. Requests of the first three classes count against the
 * allowance of the month.
 */
export type RateClass = "general" | "ingest" | "import" | "control_poll" | "account" | "none";

/** Requests without valid credentials from one client address. */
export const addressRate: Rate = { perSecond: 25, burst: 100 };

/** Requests to account routes with one credential, under any plan. */
const accountRate: Rate = { perSecond: 5, burst: 30 };

/**
 * Returns the rate of a class of routes under a plan; an unknown plan counts as the smallest. An ingest burst
 * is five seconds of its rate, within the general burst. Stop polling has a floor, so that even
 * the smallest plan can watch many runs (API specification, Rate limits).
 */
export function rateOf(plans: Plans, planTier: string, rateClass: Exclude<RateClass, "none">): Rate {
  const plan = planOf(plans, planTier);
  switch (rateClass) {
    case "general":
      return { perSecond: plan.rate_limit_rps, burst: plan.rate_limit_burst };
    case "ingest":
    case "import":
      return {
        perSecond: plan.ingest_rate_limit_rps,
        burst: Math.max(1, Math.min(5 * plan.ingest_rate_limit_rps, plan.rate_limit_burst)),
      };
    case "control_poll":
      return { perSecond: Math.max(10, plan.rate_limit_rps), burst: Math.max(100, plan.rate_limit_burst) };
    case "account":
      return accountRate;
  }
}

/** The tokens of one lease are this part of a burst: 20 for the largest hosted plan, 1 for the smallest. */
const LEASES_OF_BURST = 50;

/** Returns how many tokens a gateway leases at a time: few enough that tokens held by others do not matter, and at least one. */
export function tokensOfLease({ burst }: Rate): number {
  return Math.max(1, Math.floor(burst / LEASES_OF_BURST));
}

/** Returns the part of a rate that each gateway may grant by itself. A bucket holds at least one token. */
export function shareOf({ perSecond, burst }: Rate, gateways: number): Rate {
  return { perSecond: perSecond / gateways, burst: Math.max(1, burst / gateways) };
}

/**
 * Returns the refusal of one more request, if a plan has none left in this month. Plans with a price for more requests are never refused.
 * @returns api_request_monthly_limit_exceeded with the seconds until the next month
 */
export function monthRefusal(
  { api_requests: limit, api_request_overage_cents_per_million: overage }: Plan,
  {
    used,
    planTier,
    month,
    nowMs,
  }: {
    readonly used: number;
    readonly planTier: PlanTier;
    readonly month: Pick<Month, "startsAt" | "endsAt">;
    readonly nowMs: number;
  },
): AppError | undefined {
  if (overage !== null || used < limit) return undefined;
  const resetAt = month.endsAt.toISOString();
  return new AppError(
    "api_request_monthly_limit_exceeded",
    `your organization has made the ${limit} requests that its plan allows in a month; it may make more from ${resetAt} on`,
    {
      retryAfterSeconds: Math.max(1, Math.ceil((month.endsAt.getTime() - nowMs) / 1000)),
      members: {
        usage: used,
        projected_usage: used + 1,
        limit,
        plan_tier: planTier,
        overage_mode: "blocked",
        period_start: month.startsAt.toISOString(),
        reset_at: resetAt,
      },
    },
  );
}
