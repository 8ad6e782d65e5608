import type { Month } from "@tidemark/plans";

/** Quotas that start again each month. */
export type MonthTarget = "api_requests" | "metric_points" | "trace_events";

/** The use at the end of a month at the pace of its past days. */
export type Forecast = {
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
