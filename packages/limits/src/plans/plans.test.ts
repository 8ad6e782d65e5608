import { describe, expect, test } from "@jest/globals";
import { awaitsPayment, billingStates, limitOf, planOf, planTargets, planTiers, tierOf } from "./plans.ts";
import { hostedPlans, parsePlans } from "./hosted-plans.ts";

describe("the hosted plans", () => {
  test.each([
    ["free", 5, 30, 2, 500_000],
    ["pro", 50, 250, 25, 25_000_000],
    ["premium", 200, 1000, 100, 150_000_000],
  ])("%s has the rates and the allowance of the specification", (tier, rps, burst, ingest, requests) => {
    const plan = planOf(hostedPlans, tier);
    expect([plan.rate_limit_rps, plan.rate_limit_burst, plan.ingest_rate_limit_rps]).toEqual([rps, burst, ingest]);
    expect(plan.api_requests).toBe(requests);
  });

  test.each([
    ["free", [2, 100, 1e6, 1e5, 2 * 1024 ** 3]],
    ["pro", [100, 1e5, 250e6, 50e6, 1024 ** 4]],
    ["premium", [500, 1e6, 2e9, 500e6, 5 * 1024 ** 4]],
  ])("%s blocks at the quotas of the usage document", (tier, expected) => {
    expect(planTargets.map((target) => limitOf(planOf(hostedPlans, tier), target))).toEqual(expected);
  });

  test("an unknown tier counts as the smallest", () => {
    expect(planOf(hostedPlans, "toString")).toBe(hostedPlans.free);
    expect([tierOf(""), tierOf("pro")]).toEqual(["free", "pro"]);
  });
});

describe("a plans file", () => {
  test("replaces what it names and keeps the rest", () => {
    const plans = parsePlans('{"free": {"runs": 5000, "rate_limit_rps": 0.5}}');
    expect(plans.free).toEqual({ ...hostedPlans.free, runs: 5000, rate_limit_rps: 0.5 });
    expect(plans.pro).toBe(hostedPlans.pro);
  });

  test("may switch the refusal above the allowance off and on, and name things", () => {
    const plans = parsePlans(
      '{"free": {"api_request_overage_cents_per_million": 0, "label": "Lab"}, "pro": {"api_request_overage_cents_per_million": null, "monthly_base_usd": 0}}',
    );
    expect([plans.free.api_request_overage_cents_per_million, plans.free.label]).toEqual([0, "Lab"]);
    expect([plans.pro.api_request_overage_cents_per_million, plans.pro.monthly_base_usd]).toEqual([null, 0]);
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
    ['{"free": {"metric_points": 0.5}}', "a whole number as free.metric_points"],
    ['{"free": {"api_requests": null}}', "a positive number as free.api_requests"],
    ['{"free": {"label": ""}}', "a text of 1 to 64 characters as free.label"],
    ['{"free": {"monthly_base_usd": -1}}', "a positive number as free.monthly_base_usd"],
  ])("%s is refused with the fault", (text, fault) => {
    expect(() => parsePlans(text)).toThrow(fault);
  });
});

test("an organization awaits payment in exactly three states", () => {
  expect(billingStates.filter(awaitsPayment)).toEqual(["checkout_pending", "read_only_payment_required", "canceled"]);
  expect(awaitsPayment("")).toBe(false);
  expect(planTiers).toHaveLength(3);
});
