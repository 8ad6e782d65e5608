import { limitOf, planTargets, type Month, type Plan, type PlanTarget } from "@tidemark/limits";

/** The subject of a warning. */
type WarningTarget = PlanTarget | "api_requests" | "seats";

/** A warning of the usage document. */
type Warning = {
  readonly target: WarningTarget;
  readonly status: "approaching_limit" | "over_limit" | "paid_extra_seats";
  readonly value: number;
  readonly limit: number;
  /** Rounded to four places. */
  readonly ratio: number;
  readonly policy: string;
  readonly blocking: boolean;
  readonly message: string;
};

const APPROACHING = 0.8;

const words: Record<WarningTarget, string> = {
  projects: "projects",
  runs: "runs",
  metric_points: "metric points of this month",
  trace_events: "trace events of this month",
  storage: "bytes of storage",
  api_requests: "requests of this month",
  seats: "seats",
};

/**
 * Returns the warnings of an organization about its plan: quotas that are at least 80 % used, and seats above the included ones. A warning
 * blocks where new things of its kind are refused.
 */
export function warningsOf(
  used: Readonly<Record<WarningTarget, number>>,
  plan: Plan,
  { enforced }: { readonly enforced: boolean },
): Warning[] {
  const quota = (target: PlanTarget | "api_requests", limit: number, policy: string, blocks: boolean): Warning[] => {
    const value = used[target];
    if (value < APPROACHING * limit) return [];
    const isOver = value >= limit;
    return [
      {
        target,
        status: isOver ? "over_limit" : "approaching_limit",
        value,
        limit,
        ratio: ratioOf(value, limit),
        policy,
        blocking: isOver && blocks && enforced,
        message: `${value} of ${limit} ${words[target]} are used`,
      },
    ];
  };
  const { api_requests: requests, api_request_overage_cents_per_million: overage, included_seats: seats } = plan;
  return [
    ...planTargets.flatMap((target) => quota(target, limitOf(plan, target), "blocked_at_limit", true)),
    ...quota("api_requests", requests, overage === null ? "blocked" : "metered_overage", overage === null),
    ...(used.seats > seats ? [extraSeats(used.seats, seats)] : []),
  ];
}

function extraSeats(value: number, limit: number): Warning {
  return {
    target: "seats",
    status: "paid_extra_seats",
    value,
    limit,
    ratio: ratioOf(value, limit),
    policy: "paid_extra_seats",
    blocking: false,
    message: `${value - limit} seats are above the ${limit} of the plan`,
  };
}

function ratioOf(value: number, limit: number): number {
  return Math.round((value / limit) * 10_000) / 10_000;
}

/** Quotas that start again each month. */
type MonthTarget = "api_requests" | "metric_points" | "trace_events";

/** The use at the end of a month at the pace of its past days. */
type Forecast = {
  readonly target: MonthTarget;
  readonly projected: number;
  /** YYYY-MM-DD; undefined: the quota lasts until the end of the month. */
  readonly usedUpOn: string | undefined;
};

/** One busy minute at the beginning of a month says nothing about the rest of it. */
const ELAPSED_MS_MIN = 24 * 60 * 60 * 1000;

/**
 * Returns the forecast of a quota: the use so far, divided by the time so far, continues to the end of the month. The first day counts as a
 * whole one. A quota that is already used up counts as used up on the day of `now`.
 */
export function forecastOf(
  target: MonthTarget,
  { used, limit }: { readonly used: number; readonly limit: number },
  month: Month,
  now: Date,
): Forecast {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const nowMs = now.getTime();
  const elapsedMs = Math.max(ELAPSED_MS_MIN, nowMs - month.startsAt.getTime());
  const restMs = month.endsAt.getTime() - nowMs;
  const perMs = used / elapsedMs;
  const projected = Math.round(used + perMs * restMs);
  if (used >= limit) return { target, projected, usedUpOn: day(nowMs) };
  const leftMs = (limit - used) / perMs;
  return { target, projected, usedUpOn: leftMs < restMs ? day(nowMs + leftMs) : undefined };
}
