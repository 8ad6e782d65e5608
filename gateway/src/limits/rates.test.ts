import { describe, expect, test } from "@jest/globals";
import { hostedPlans, parsePlans } from "@tidemark/limits";
import { rateOf, shareOf, tokensOfLease } from "./rates.rules.ts";

describe("plans", () => {
  test.each([
    ["free", "general", 5, 30],
    ["pro", "general", 50, 250],
    ["premium", "general", 200, 1000],
    ["free", "ingest", 2, 10],
    ["pro", "ingest", 25, 125],
    ["premium", "ingest", 100, 500],
    ["free", "import", 2, 10],
    ["pro", "import", 25, 125],
    ["premium", "import", 100, 500],
    ["free", "control_poll", 10, 100],
    ["pro", "control_poll", 50, 250],
    ["premium", "control_poll", 200, 1000],
    ["free", "account", 5, 30],
    ["premium", "account", 5, 30],
    ["", "general", 5, 30],
    ["toString", "general", 5, 30],
  ] as const)("%s %s: %i a second, a burst of %i", (tier, rateClass, perSecond, burst) => {
    expect(rateOf(hostedPlans, tier, rateClass)).toEqual({ perSecond, burst });
  });

  test("a file of plans changes them", () => {
    const plans = parsePlans('{"free": {"rate_limit_burst": 2, "ingest_rate_limit_rps": 0.5}}');
    expect(rateOf(plans, "free", "ingest")).toEqual({ perSecond: 0.5, burst: 2 });
  });
});

test.each([
  ["free", "general", 1],
  ["free", "ingest", 1],
  ["pro", "general", 5],
  ["pro", "ingest", 2],
  ["premium", "ingest", 10],
  ["premium", "general", 20],
] as const)("a gateway leases for %s %s %i tokens at a time", (tier, rateClass, tokens) => {
  expect(tokensOfLease(rateOf(hostedPlans, tier, rateClass))).toBe(tokens);
});

test("each of several gateways has its part of a rate, and at least one token", () => {
  expect(shareOf({ perSecond: 25, burst: 100 }, 4)).toEqual({ perSecond: 6.25, burst: 25 });
  expect(shareOf({ perSecond: 2, burst: 2 }, 4)).toEqual({ perSecond: 0.5, burst: 1 });
});
