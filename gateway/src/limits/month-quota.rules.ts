import { AppError } from "@tidemark/errors";
import type { Month, Plan, PlanTier } from "@tidemark/plans";

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
