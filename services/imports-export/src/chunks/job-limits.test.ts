import { expect, test } from "@jest/globals";
import { addWarnings, requireRoom, type JobSize } from "./job-limits.rules.ts";

const nothing: JobSize = { chunks: 0, runs: 0, metrics: 0, attributes: 0, artifacts: 0, bytes: 0 };

test.each<[keyof JobSize, number]>([
  ["chunks", 500],
  ["runs", 50_000],
  ["metrics", 1_000_000],
  ["attributes", 250_000],
  ["artifacts", 100_000],
  ["bytes", 2_147_483_648],
])("a job takes up to the most %s and not one more", (what, max) => {
  const job = { ...nothing, [what]: max - 1 };
  expect(() => requireRoom(job, { ...nothing, [what]: 1 })).not.toThrow();
  expect(() => requireRoom(job, { ...nothing, [what]: 2 })).toThrow(expect.objectContaining({ reason: "bad_request" }));
});

test("a job keeps 200 warnings, and lists show 20 of them with short texts", () => {
  const long = { code: "c".repeat(2000), message: "🌊".repeat(2000) };
  const before = JSON.stringify([{ code: "a", message: "" }]);
  const { warnings, firstWarnings } = addWarnings(
    before,
    Array.from({ length: 300 }, () => long),
  );
  const [kept, listed] = [JSON.parse(warnings), JSON.parse(firstWarnings)];
  expect([kept.length, listed.length]).toEqual([200, 20]);
  expect([kept[0].code, kept[1].code.length, listed[1].code.length]).toEqual(["a", 1024, 256]);
  expect(listed[1].message.isWellFormed()).toBe(true);
});
