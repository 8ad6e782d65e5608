import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { MonthRequestsSchema } from "@tidemark/proto/usage/v1/usage";
import { createRequestCounts } from "./request-counts.ts";

function setUp(at = "2026-01-31T23:59:00Z") {
  const clock = { ms: Date.parse(at) };
  return { clock, counts: createRequestCounts(() => clock.ms) };
}
const total = (orgId: string, month: string, requests: number) =>
  create(MonthRequestsSchema, { orgId, month, requests: BigInt(requests) });

/** Counts a request and answers it. */
const serve = (counts: ReturnType<typeof setUp>["counts"], orgId = "a", status = 200) =>
  counts.answered(counts.add(orgId), status);

test("a counted request counts as used immediately, while its report is in flight and after it has arrived", () => {
  const { counts } = setUp();
  counts.learn("a", "2026-01", 7);
  for (let i = 0; i < 3; i += 1) serve(counts);
  expect(counts.used("a")).toBe(10);
  expect(counts.takeReport(10)).toEqual([{ orgId: "a", month: "2026-01", requests: 3 }]);
  serve(counts);
  expect(counts.used("a")).toBe(11);
  counts.reported([total("a", "2026-01", 15)]);
  expect(counts.used("a")).toBe(16);
  expect(counts.takeReport(10)).toEqual([{ orgId: "a", month: "2026-01", requests: 1 }]);
});

test("a total that is learned while a report is on its way may have it already, and is not added to it", () => {
  const { counts } = setUp();
  serve(counts);
  counts.takeReport(10);
  counts.learn("a", "2026-01", 1);
  expect(counts.used("a")).toBe(1);
});

test("a request counts as used while it is under way, and is reported once it is answered", () => {
  const { counts } = setUp();
  const counted = counts.add("a");
  expect(counts.used("a")).toBe(1);
  expect(counts.takeReport(10)).toEqual([]);
  counts.answered(counted, 404);
  expect(counts.takeReport(10)).toEqual([{ orgId: "a", month: "2026-01", requests: 1 }]);
});

test("a request that failed in the service was not used", () => {
  const { counts } = setUp();
  serve(counts, "a", 503);
  expect(counts.used("a")).toBe(0);
  expect(counts.takeReport(10)).toEqual([]);
});

test("a month begins with nothing, and the rest of the one before is reported for that one", () => {
  const { clock, counts } = setUp();
  serve(counts);
  const last = counts.add("a");
  clock.ms = Date.parse("2026-02-01T00:00:00Z");
  expect(counts.used("a")).toBe(0);
  serve(counts);
  counts.answered(last, 200);
  expect(counts.used("a")).toBe(1);
  expect(counts.takeReport(10)).toEqual([
    { orgId: "a", month: "2026-01", requests: 1 },
    { orgId: "a", month: "2026-01", requests: 1 },
    { orgId: "a", month: "2026-02", requests: 1 },
  ]);
  counts.reported([total("a", "2026-01", 99), total("a", "2026-02", 1)]);
  expect(counts.used("a")).toBe(1);
  expect(counts.month().endsAt.toISOString()).toBe("2026-03-01T00:00:00.000Z");
});

test("a report has no more than its limit, and the next one has the rest", () => {
  const { counts } = setUp();
  for (const orgId of ["a", "b", "c"]) serve(counts, orgId);
  expect(counts.takeReport(2)).toHaveLength(2);
  expect(counts.takeReport(2)).toEqual([{ orgId: "c", month: "2026-01", requests: 1 }]);
});

test("organizations that were quiet for a minute are forgotten", () => {
  const { clock, counts } = setUp("2026-01-01T00:00:00Z");
  counts.learn("a", "2026-01", 5);
  clock.ms += 61_000;
  counts.takeReport(10);
  expect(counts.used("a")).toBe(0);
});
