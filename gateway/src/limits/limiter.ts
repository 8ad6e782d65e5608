import { AppError } from "@tidemark/errors";
import { planOf, tierOf, type Plans } from "@tidemark/limits";
import type { Identity } from "@tidemark/proto/common/v1/common";
import type { Route } from "../route.ts";
import { headerNames } from "../http/headers.ts";
import { clientNetwork } from "./embed-limits.ts";
import type { HeldTokens } from "./held-tokens.ts";
import { addressRate, monthRefusal, rateOf, shareOf, type RateClass } from "./rates.rules.ts";
import type { Counted, RequestCounts } from "./request-counts.ts";
import { createBuckets, type Rate, type Taken } from "./token-bucket.ts";

/** The verdict of the limits on one request: its refusal, if any, the headers of its answer, and what was counted. */
export type Admission = {
  readonly refused: AppError | undefined;
  readonly headers: LimitHeaders;
  readonly counted?: Counted | undefined;
};

/** The properties of a route that the limits read. */
type LimitedRoute = Pick<Route, "rate" | "monthQuota">;

/** The limits of the gateway. */
export type Limiter = {
  /** Counts a request of an organization. It waits only where tokens have to be leased. `undefined`: not limited, no headers. */
  admit(identity: Identity, route: LimitedRoute): Admission | Promise<Admission> | undefined;
  /** Counts a request whose credentials are absent, bad or not known yet against the client's address. */
  countAddress(address: string): Admission | undefined;
  /** Undoes `countAddress` after the credentials turned out to be valid. */
  refundAddress(address: string): void;
};

/** Classes whose requests count against the allowance of the month. */
const countedClasses: ReadonlySet<RateClass> = new Set<RateClass>(["general", "ingest", "import"]);

const noHeaders: LimitHeaders = {};

/** Creates the limits of this process. With `enabled` false nothing is refused and no header is sent; requests are counted all the same. */
export function createLimiter(options: {
  readonly enabled: boolean;
  readonly plans: Plans;
  readonly tokens: HeldTokens;
  readonly counts: RequestCounts;
  /** How many gateways share the work. */
  readonly gateways: () => number;
  readonly clocks: { readonly wallMs: () => number; readonly steadyMs: () => number };
}): Limiter {
  const { enabled, plans, tokens, counts, gateways, clocks } = options;
  const addresses = createBuckets(clocks.steadyMs);

  const countOnly = ({ orgId }: Identity, route: LimitedRoute): Admission | undefined =>
    isCounted(route) ? { refused: undefined, headers: noHeaders, counted: counts.add(orgId) } : undefined;

  const refusedByMonth = (
    { orgId, planTier }: Identity,
    { monthQuota }: Pick<LimitedRoute, "monthQuota">,
  ): Admission | undefined => {
    if (monthQuota === "never_refused") return undefined;
    const plan = planOf(plans, planTier);
    // Spares the look-up of the count.
    if (plan.api_request_overage_cents_per_million !== null) return undefined;
    const refused = monthRefusal(plan, {
      used: counts.used(orgId),
      planTier: tierOf(planTier),
      month: counts.month(),
      nowMs: clocks.wallMs(),
    });
    if (refused === undefined) return undefined;
    return { refused, headers: monthHeaders(plan.api_requests, refused.retryAfterSeconds ?? 1) };
  };

  const decide = (identity: Identity, route: LimitedRoute, rate: Rate, taken: Taken): Admission => {
    const headers = rateHeaders(rate, taken);
    if (!taken.allowed) return { refused: exceeded(taken, whoseOf(route.rate)), headers };
    if (!isCounted(route)) return { refused: undefined, headers };
    // A lease may just have reported how much of the month is used.
    return refusedByMonth(identity, route) ?? { refused: undefined, headers, counted: counts.add(identity.orgId) };
  };

  const admitByRate = (identity: Identity, route: LimitedRoute): Admission | Promise<Admission> | undefined => {
    if (route.rate === "none") return countOnly(identity, route);
    const overMonth = isCounted(route) ? refusedByMonth(identity, route) : undefined;
    if (overMonth !== undefined) return overMonth;
    const rate = rateOf(plans, identity.planTier, route.rate);
    const bucket = route.rate === "account" ? `account ${identity.credentialId}` : route.rate;
    const taken = tokens.take({ orgId: identity.orgId, bucket }, rate);
    return taken instanceof Promise
      ? taken.then((later) => decide(identity, route, rate, later))
      : decide(identity, route, rate, taken);
  };

  return {
    admit(identity, route) {
      if (identity.orgId === "") return undefined;
      return enabled ? admitByRate(identity, route) : countOnly(identity, route);
    },
    countAddress(address) {
      if (!enabled) return undefined;
      const taken = addresses.take(clientNetwork(address), shareOf(addressRate, gateways()));
      return {
        refused: taken.allowed ? undefined : exceeded(taken, "from your address"),
        headers: rateHeaders(addressRate, taken),
      };
    },
    refundAddress(address) {
      if (enabled) addresses.giveBack(clientNetwork(address), shareOf(addressRate, gateways()));
    },
  };
}

function isCounted({ rate, monthQuota }: LimitedRoute): boolean {
  return monthQuota !== undefined || countedClasses.has(rate);
}

function whoseOf(rate: RateClass): string {
  return rate === "account" ? "with your credentials" : "of your organization";
}

function exceeded({ waitSeconds }: Pick<Taken, "waitSeconds">, whose: string): AppError {
  return new AppError("rate_limit_exceeded", `too many requests ${whose}; try again in ${waitSeconds} s`, {
    retryAfterSeconds: waitSeconds,
  });
}

/** Headers of an answer, by name. */
type LimitHeaders = Readonly<Record<string, string>>;

const [scope, scopeOfSdk] = headerNames.rateLimitScope;

/** Returns the headers of every counted answer: the rate per second, the whole requests left, and the seconds to wait (0 unless refused). */
function rateHeaders(rate: Rate, { remaining, waitSeconds }: Pick<Taken, "remaining" | "waitSeconds">): LimitHeaders {
  return {
    [scope]: "second",
    [scopeOfSdk]: "second",
    [headerNames.rateLimitLimit]: String(rate.perSecond),
    [headerNames.rateLimitRemaining]: String(remaining),
    [headerNames.rateLimitReset]: String(waitSeconds),
  };
}

/** Returns the headers of an answer that the monthly allowance refuses. */
function monthHeaders(limit: number, waitSeconds: number): LimitHeaders {
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
