import { headerNames } from "../header-names.ts";
import type { Rate, Taken } from "./token-bucket.ts";

/**
 * The headers that tell a client where it stands in the short window, on every answer that was
 * counted: the rate a second, the whole requests left, and the seconds to wait (0 unless refused).
 */
export function rateLimitHeaders(rate: Rate, { remaining, waitSeconds }: Taken): Record<string, string> {
  const [scope, scopeOfSdk] = headerNames.rateLimitScope;
  return {
    [scope]: "second",
    [scopeOfSdk]: "second",
    [headerNames.rateLimitLimit]: String(rate.perSecond),
    [headerNames.rateLimitRemaining]: String(remaining),
    [headerNames.rateLimitReset]: String(waitSeconds),
  };
}
