import { describe, expect, test } from "@jest/globals";
import { awaitsPayment, billingStates, hostedPlans, parsePlans, planOf, planTiers } from "./index.ts";

describe("the hosted plans", () => {
  test.each([
    ["free", [5, 30, 2, 2, 2, 100]],
    ["pro", [50, 250, 25, 3, 100, 100_000]],
    ["premium", [200, 1000, 100, 10, 500, 1_000_000]],
  ])("%s allows what the specification says", (tier, expected) => {
    expect(Object.values(planOf(hostedPlans, tier))).toEqual(expected);
  });

  test("an unknown tier counts as the smallest", () => {
    expect(planOf(hostedPlans, "toString")).toBe(hostedPlans.free);
  });
});

describe("a plans file", () => {
  test("replaces what it names and keeps the rest", () => {
    const plans = parsePlans('{"free": {"runs": 5000, "rate_limit_rps": 0.5}}');
    expect(plans.free).toEqual({ ...hostedPlans.free, runs: 5000, rate_limit_rps: 0.5 });
    expect(plans.pro).toBe(hostedPlans.pro);
  });

  test.each([
    ["{", "not valid JSON"],
    ["[]", "must hold a JSON object"],
    ['{"gold": {}}', "an unknown plan: gold"],
    ['{"free": 1}', "an object as free"],
    ['{"free": {"seats": 1}}', "an unknown field free.seats"],
    ['{"free": {"runs": 0}}', "a positive number as free.runs"],
    ['{"free": {"runs": "many"}}', "a positive number as free.runs"],
    ['{"free": {"runs": 1.5}}', "a whole number as free.runs"],
    ['{"free": {"rate_limit_burst": 0.5}}', "at least 1 as free.rate_limit_burst"],
  ])("%s is refused with the fault", (text, fault) => {
    expect(() => parsePlans(text)).toThrow(fault);
  });
});

test("an organization awaits payment in exactly three states", () => {
  expect(billingStates.filter(awaitsPayment)).toEqual(["checkout_pending", "read_only_payment_required", "canceled"]);
  expect(awaitsPayment("")).toBe(false);
  expect(planTiers).toHaveLength(3);
});
