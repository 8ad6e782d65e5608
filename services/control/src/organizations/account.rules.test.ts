import { describe, expect, test } from "@jest/globals";
import { billingStates, hostedPlans } from "@tidemark/limits";
import { refusalOf } from "../refusal.fixture.ts";
import {
  firstBillingState,
  readAccountType,
  readBillingState,
  readPlanTier,
  requirePaid,
  seatLimit,
} from "./people.rules.ts";

describe("a plan", () => {
  test.each([
    ["", "free"],
    ["free", "free"],
    ["lab", "pro"],
    ["startup", "pro"],
    ["pro", "pro"],
    ["growth", "premium"],
    ["premium", "premium"],
  ])("named %j is %s", (name, plan) => expect(readPlanTier(name)).toBe(plan));

  test.each(["gold", "FREE", "toString", "__proto__"])("named %j does not exist", (name) => {
    expect(refusalOf(() => readPlanTier(name))).toMatchObject({ reason: "bad_request", field: "plan_tier" });
  });

  test.each([
    ["free", "business", 2],
    ["pro", "customer", 3],
    ["premium", "business", 10],
    ["premium", "personal", 1],
  ] as const)("%s has, for a %s organization, %d seats", (plan, account, seats) => {
    expect(seatLimit(hostedPlans, plan, account)).toBe(seats);
  });
});

test("kinds of organization are those that the caller may choose from", () => {
  expect(readAccountType("customer")).toBe("customer");
  expect(refusalOf(() => readAccountType("customer", ["business", "personal"]))).toMatchObject({
    reason: "bad_request",
    field: "account_type",
  });
});

describe("billing", () => {
  test.each(billingStates.map((state) => [state] as const))("lets %s add to the organization, or not", (state) => {
    const closed = ["checkout_pending", "read_only_payment_required", "canceled"].includes(state);
    const outcome = refusalOf(() => requirePaid(readBillingState(state), "create API keys"));
    expect("reason" in outcome && outcome.reason === "payment_required").toBe(closed);
  });

  test("begins as the plan says", () => {
    expect([firstBillingState("free"), firstBillingState("pro")]).toEqual(["free_active", "paid_active"]);
  });

  test("knows no other states", () => {
    expect(refusalOf(() => readBillingState("rich"))).toMatchObject({ reason: "bad_request", field: "billing_state" });
  });
});
