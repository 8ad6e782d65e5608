import { headerNames } from "../http/headers.ts";
import type { Rate, Taken } from "./token-bucket.ts";

/** Headers of an answer, by name. */
export type LimitHeaders = Readonly<Record<string, string>>;

const [scope, scopeOfSdk] = headerNames.rateLimitScope;

/** Returns the headers of every counted answer: the rate per second, the whole requests left, and the seconds to wait (0 unless refused). */
export function rateHeaders(
  rate: Rate,
  { remaining, waitSeconds }: Pick<Taken, "remaining" | "waitSeconds">,
): LimitHeaders {
  return {
    [scope]: "second",
    [scopeOfSdk]: "second",
    [headerNames.rateLimitLimit]: String(rate.perSecond),
    [headerNames.rateLimitRemaining]: String(remaining),
    [headerNames.rateLimitReset]: String(waitSeconds),
  };
}

/** Returns the headers of an answer that the monthly allowance refuses. */
export function monthHeaders(limit: number, waitSeconds: number): LimitHeaders {
  return {
    [scope]: "monthly",
    [scopeOfSdk]: "monthly",
    [headerNames.rateLimitLimit]: String(limit),
    [headerNames.rateLimitRemaining]: "0",
    [headerNames.rateLimitReset]: String(waitSeconds),
    ...Object.fromEntries(
      headerNames.monthlyRateLimit.flatMap((prefix): [string, string][] => [
        [`${prefix}-limit`, String(limit)],
        [`${prefix}-remaining`, "0"],
        [`${prefix}-reset`, String(waitSeconds)],
      ]),
    ),
  };
}
