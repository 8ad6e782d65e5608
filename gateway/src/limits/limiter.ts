import type { Plans } from "@tidemark/plans";
import { AppError } from "@tidemark/errors";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { RateClass } from "../route.ts";
import { createBuckets } from "./buckets.ts";
import { rateOf } from "./rate-of.ts";
import { rateLimitHeaders } from "./rate-limit-headers.ts";
import type { Rate, Taken } from "./token-bucket.ts";

/** What a limit says of one request: whether it may go on, and the headers of its answer. */
export type Admission = { readonly refused: AppError | undefined; readonly headers: Readonly<Record<string, string>> };

/** The short-window limits of the gateway. */
export type Limiter = {
  /** Counts a request of an organization. `undefined`: not limited, no headers. */
  admit(identity: Identity, rateClass: RateClass): Admission | undefined;
  /** Counts a request without credentials, or with ones that are not known yet or bad, against the client's address. */
  countAddress(address: string): Admission | undefined;
  /** Takes back what `countAddress` counted: the credentials were good. */
  forgiveAddress(address: string): void;
};

/** Requests without good credentials, a second and at once, from one client address. */
const addressRate: Rate = { perSecond: 25, burst: 100 };

/** Makes the limits of this process; with `enabled` false nothing is counted and no header is sent. */
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
