import { describe, expect, test } from "@jest/globals";
import { hostedPlans } from "@tidemark/plans";
import { isNearPlan } from "./plan-limits.ts";

describe("plan limits", () => {
  test.each([
    ["a run far from the limit", { projects: 100, runs: 0 }, { project: false, run: true }, false],
    ["a run close to the limit", { projects: 0, runs: 99_900 }, { project: false, run: true }, true],
    ["a project of a plan with few", { projects: 0, runs: 0 }, { project: true, run: false }, true],
    ["nothing new", { projects: 100, runs: 100_000 }, { project: false, run: false }, false],
  ])("%s on pro has to queue: %j of %j is %j", (_what, usage, wanted, near) => {
    expect(isNearPlan(usage, hostedPlans.pro, wanted)).toBe(near);
  });
});
