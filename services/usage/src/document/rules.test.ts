import { describe, expect, test } from "@jest/globals";
import { hostedPlans, monthOf } from "@tidemark/limits";
import { forecastOf, warningsOf } from "./warnings.rules.ts";
import { metadataBytes, storageByKind, storageBytes } from "./storage.rules.ts";

describe("a forecast", () => {
  const at = (now: string, used: number, limit: number) => {
    const { projected, usedUpOn } = forecastOf("api_requests", { used, limit }, monthOf(new Date(now)), new Date(now));
    return [projected, usedUpOn];
  };
  test.each([
    ["nothing was used", "2026-04-11T00:00:00Z", 0, 100, [0, undefined]],
    ["ten a day last the month", "2026-04-11T00:00:00Z", 100, 301, [300, undefined]],
    ["ten a day do not: 150 are used up on the 16th", "2026-04-11T00:00:00Z", 100, 150, [300, "2026-04-16"]],
    ["it is used up already", "2026-04-11T00:00:00Z", 150, 150, [450, "2026-04-11"]],
    ["the first hour counts as a day", "2026-04-01T01:00:00Z", 24, 10_000, [743, undefined]],
    ["the last moment", "2026-04-30T23:59:59.999Z", 99, 100, [99, undefined]],
  ])("%s", (_, now, used, limit, expected) => expect(at(now, used, limit)).toEqual(expected));
});

describe("warnings", () => {
  const nothing = { projects: 0, runs: 0, metric_points: 0, trace_events: 0, storage: 0, api_requests: 0, seats: 1 };
  const of = (used: object, plan = hostedPlans.free, enforced = true) =>
    warningsOf({ ...nothing, ...used }, plan, { enforced });

  test("there are none below 80 %", () => {
    expect(of({ projects: 1, runs: 79, metric_points: 799_999, api_requests: 399_999, seats: 2 })).toEqual([]);
  });

  test.each([
    ["runs", 80, "approaching_limit", 0.8, false],
    ["runs", 99, "approaching_limit", 0.99, false],
    ["runs", 100, "over_limit", 1, true],
    ["projects", 3, "over_limit", 1.5, true],
    ["metric_points", 812_345, "approaching_limit", 0.8123, false],
    ["trace_events", 100_000, "over_limit", 1, true],
    ["storage", 2 * 1024 ** 3, "over_limit", 1, true],
    ["api_requests", 500_000, "over_limit", 1, true],
  ])("%s at %i", (target, value, status, ratio, blocking) => {
    expect(of({ [target]: value })).toMatchObject([{ target, status, value, ratio, blocking }]);
  });

  test("they are in the order of the checks, and describe the limit", () => {
    const warnings = of({ storage: 2 * 1024 ** 3, runs: 90, projects: 2, seats: 4 });
    expect(warnings.map(({ target }) => target)).toEqual(["projects", "runs", "storage", "seats"]);
    expect(warnings[1]?.message).toBe("90 of 100 runs are used");
    expect(warnings[3]).toMatchObject({ status: "paid_extra_seats", blocking: false, limit: 2, ratio: 2 });
  });

  test("a plan with a price for more requests is not blocked by them", () => {
    expect(of({ api_requests: 25_000_000 }, hostedPlans.pro)).toMatchObject([
      { target: "api_requests", policy: "metered_overage", blocking: false },
    ]);
  });

  test("nothing is blocked where limits are off", () => {
    expect(of({ runs: 100 }, hostedPlans.free, false)).toMatchObject([{ status: "over_limit", blocking: false }]);
  });
});

describe("storage", () => {
  const rows = { projects: 1, runs: 1, series: 2, artifacts: 1, keys: 1, seats: 1 };
  const artifacts = { artifactBytes: 1, versionBytes: 2, pendingDeleteBytes: 4, reservedBytes: 8 };

  test("is what is counted of each kind, with the fixed bytes of its rows", () => {
    expect(metadataBytes(rows)).toBe(512 + 1024 + 2 * 256 + 512 + 512 + 256);
    const contents = { logs: 7, attributes: 9, objects: 11, documents: 13, traces: 17, reports: 19, points: -32 };
    const byKind = storageByKind({ rows, ...artifacts, points: 3, stagedBytes: 16, contents });
    expect(byKind).toEqual({
      artifacts: 15 + 512,
      points: 3 * 16 + 2 * 256 - 32,
      logs: 7,
      attributes: 9,
      objects: 11,
      documents: 13 + 16 + 512 + 1024 + 512 + 256,
      traces: 17,
      reports: 19,
    });
    expect(storageBytes(byKind)).toBe(Object.values(byKind).reduce((sum, bytes) => sum + bytes));
  });

  test("of a kind is never less than nothing", () => {
    const none = { projects: 0, runs: 0, series: 0, artifacts: 0, keys: 0, seats: 0 };
    const byKind = storageByKind({ rows: none, ...artifacts, points: 0, stagedBytes: 0, contents: { logs: -5 } });
    expect([byKind.logs, storageBytes(byKind)]).toEqual([0, 15]);
  });
});
