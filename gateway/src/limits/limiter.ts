import { AppError } from "@tidemark/errors";
import { planOf, type Plans } from "@tidemark/plans";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { headerNames } from "../http/headers.ts";
import type { RateClass } from "../route.ts";
import { createBuckets, type Rate, type Taken } from "./token-bucket.ts";

/** The verdict of a limit on one request: its refusal, if any, and the headers of its answer. */
export type Admission = { readonly refused: AppError | undefined; readonly headers: Readonly<Record<string, string>> };

/** The short-window limits of the gateway. */
export type Limiter = {
  /** Counts a request of an organization. `undefined`: not limited, no headers. */
  admit(identity: Identity, rateClass: RateClass): Admission | undefined;
  /** Counts a request whose credentials are absent, bad or not known yet against the client's address. */
  countAddress(address: string): Admission | undefined;
  /** Undoes `countAddress` after the credentials turned out to be good. */
  forgiveAddress(address: string): void;
};

/** Requests without good credentials from one client address: per second, and simultaneously. */
const addressRate: Rate = { perSecond: 25, burst: 100 };

/** Creates the limits of this process; with `enabled` false nothing is counted and no header is sent. */
export function createLimiter(options: {
  readonly enabled: boolean;
  readonly plans: Plans;
  readonly nowMs: () => number;
}): Limiter {
  if (!options.enabled)
    return { admit: () => undefined, countAddress: () => undefined, forgiveAddress: () => undefined };
  const admission = (taken: Taken, rate: Rate, whose: string): Admission => ({
    refused: taken.allowed ? undefined : exceeded(taken, whose),
    headers: rateLimitHeaders(rate, taken),
  });
  const organizations = createBuckets(options.nowMs);
  const addresses = createBuckets(options.nowMs);
  return {
    admit(identity, rateClass) {
      if (rateClass === "none" || identity.orgId === "") return undefined;
      const rate = rateOf(options.plans, identity.planTier, rateClass);
      return admission(organizations.take(`${rateClass}:${identity.orgId}`, rate), rate, "of your organization");
    },
    countAddress: (address) => admission(addresses.take(address, addressRate), addressRate, "from your address"),
    forgiveAddress: (address) => addresses.giveBack(address, addressRate),
  };
}

function exceeded({ waitSeconds }: Taken, whose: string): AppError {
  return new AppError("rate_limit_exceeded", `too many requests ${whose}; try again in ${waitSeconds} s`, {
    retryAfterSeconds: waitSeconds,
  });
}

/**
 * Returns the rate of a class of routes under a plan; an unknown plan counts as the smallest. An ingest burst
 * is five seconds of its rate, within the general burst. Stop polling has a floor, so that even
 * the smallest plan can watch many runs.
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
  }
}

/**
 * Returns the headers of every counted answer: the rate per second, the whole requests left, and the seconds
 * to wait (0 unless refused).
 */
function rateLimitHeaders(rate: Rate, { remaining, waitSeconds }: Taken): Record<string, string> {
  const [scope, scopeOfSdk] = headerNames.rateLimitScope;
  return {
    [scope]: "second",
    [scopeOfSdk]: "second",
    [headerNames.rateLimitLimit]: String(rate.perSecond),
    [headerNames.rateLimitRemaining]: String(remaining),
    [headerNames.rateLimitReset]: String(waitSeconds),
  };
}
