import { describe, expect, test } from "@jest/globals";
import { createIdSource } from "./writes.rules.ts";

const NEW_YEAR = Date.UTC(2026, 0, 1);

describe("ids", () => {
  test("ascend within a process, also while its clock stands still or steps back", () => {
    const times = [5, 5, 5, 3, 4, 6, 1000, 999];
    const ids = createIdSource(
      () => NEW_YEAR + times.shift()!,
      () => 0.99,
    );
    const taken = Array.from({ length: 8 }, () => ids.take(1));
    expect(taken).toEqual(taken.toSorted((a, b) => a - b));
    expect(new Set(taken).size).toBe(8);
  });

  test("that are taken together are consecutive, and no other caller has them", () => {
    const ids = createIdSource(
      () => NEW_YEAR,
      () => 0,
    );
    expect([ids.take(10_000), ids.take(2), ids.take(1)]).toEqual([0, 10_000, 10_002]);
  });

  test("that shall begin at a multiple do, and still ascend, and no other caller has them", () => {
    const ids = createIdSource(
      () => NEW_YEAR,
      () => 0.5,
    );
    expect([ids.take(50, 64), ids.take(1), ids.take(50, 64), ids.take(64, 64), ids.take(1, 64)]).toEqual([
      1024, 1074, 1088, 1152, 1216,
    ]);
  });

  test("ascend with time from process to process", () => {
    const earlier = createIdSource(
      () => NEW_YEAR + 1,
      () => 0.999,
    );
    const later = createIdSource(
      () => NEW_YEAR + 2,
      () => 0,
    );
    expect(earlier.take(1)).toBeLessThan(later.take(1));
  });

  test("begin at a random slot of the first half of each millisecond", () => {
    const at = (random: number) =>
      createIdSource(
        () => NEW_YEAR,
        () => random,
      ).take(1);
    expect([at(0), at(0.5), at(0.999_999)]).toEqual([0, 1024, 2047]);
  });

  test("stay exact numbers until the year 2095", () => {
    const ids = createIdSource(
      () => Date.UTC(2095, 0, 1),
      () => 0.999_999,
    );
    expect(Number.isSafeInteger(ids.take(2000) + 2000)).toBe(true);
  });
});
