import { scopes } from "@tidemark/credentials";
import { billingStates, hostedPlans } from "@tidemark/plans";
import { describe, expect, test } from "@jest/globals";
import { firstBillingState, readBillingState, requirePaid } from "./billing.ts";
import { readAccountType, readPlanTier, seatLimit } from "./plans.ts";
import { refusalOf } from "./refusal.testing.ts";
import { isAdmin, readInvitedRole, scopesOfRole, type Role } from "./roles.ts";
import { chooseScopes, requireHeld } from "./scopes.ts";

const roles: readonly Role[] = ["owner", "admin", "member", "viewer"];

describe("a session may", () => {
  test.each(scopes.map((scope) => [scope] as const))("%s in the roles that the scope is for", (scope) => {
    const allowed: Record<string, string> = {
      "sdk:ingest": "owner admin member",
      "artifacts:write": "owner admin member",
      "runs:control": "owner admin member",
      "artifacts:manage": "owner admin",
      "imports:write": "owner admin member",
      "usage:read": "owner admin",
      "api_keys:write": "owner admin",
      "export:read": "owner admin member viewer",
    };
    expect(roles.filter((role) => scopesOfRole(role).includes(scope)).join(" ")).toBe(allowed[scope]);
  });

  test("manage people and keys as owner or admin", () => expect(roles.filter(isAdmin)).toEqual(["owner", "admin"]));
});

describe("the scopes of a new key", () => {
  test.each([
    [[], ["sdk:ingest", "export:read"]],
    [["usage:read"], ["usage:read"]],
    [
      ["runs:control", "sdk:ingest", "sdk:ingest"],
      ["sdk:ingest", "runs:control"],
    ],
    [[...scopes].toReversed(), [...scopes]],
  ])("asked for as %j are %j", (asked, chosen) => expect(chooseScopes(asked)).toEqual(chosen));

  test.each([[["root"]], [["sdk:ingest", ""]], [["SDK:INGEST"]]])("%j are refused", (asked) => {
    expect(refusalOf(() => chooseScopes(asked))).toMatchObject({ reason: "bad_request", field: "scopes" });
  });

  test("are at most those of its maker", () => {
    requireHeld(["export:read"], ["export:read", "api_keys:write"]);
    expect(refusalOf(() => requireHeld(["export:read", "usage:read"], ["export:read"]))).toMatchObject({
      reason: "forbidden",
      message: expect.stringContaining("usage:read"),
    });
  });
});

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

test.each([
  ["", "member"],
  ["admin", "admin"],
  ["viewer", "viewer"],
])("whoever is invited as %j is %s", (name, role) => expect(readInvitedRole(name)).toBe(role));

test.each(["owner", "root"])("nobody is invited as %s", (name) => {
  expect(refusalOf(() => readInvitedRole(name))).toMatchObject({ reason: "bad_request", field: "role" });
});
