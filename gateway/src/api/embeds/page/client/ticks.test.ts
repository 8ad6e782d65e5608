import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import type { Range } from "./lines.ts";
import { roundRange, roundTicks, shortNumber, tickLabels, ticksWithin } from "./ticks.ts";

describe("ticks", () => {
  test.each<[Range, number, string[]]>([
    [[0, 10], 5, ["0", "2", "4", "6", "8", "10"]],
    [[0.1, 0.97], 5, ["0.2", "0.4", "0.6", "0.8"]],
    [[-1, 1], 4, ["-1.0", "-0.5", "0", "0.5", "1.0"]],
    [[0, 19_950], 4, ["0", "5k", "10k", "15k"]],
    [[0, 3_000_000], 4, ["0", "1M", "2M", "3M"]],
    [[0, 4e9], 4, ["0", "1G", "2G", "3G", "4G"]],
    [[1_000_000, 1_000_001], 4, ["1000000.0", "1000000.5", "1000001.0"]],
    [[0, 1e-4], 5, ["0", "2e-5", "4e-5", "6e-5", "8e-5", "1e-4"]],
    [[0, 2.5e20], 4, ["0", "1e20", "2e20"]],
    [[3, 3], 4, ["3"]],
  ])("of %j, about %i, are %j", (range, wanted, labels) => {
    expect(tickLabels(roundTicks(range, wanted))).toEqual(labels);
  });

  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  const range = fc.tuple(finite, finite).map(([a, b]): Range => (a < b ? [a, b] : [b, a]));

  test("of any range are few, within it, ascending and different", () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 12 }), ([low, high], wanted) => {
        const { values, step } = roundTicks([low, high], wanted);
        expect(values.length).toBeGreaterThanOrEqual(1);
        expect(values.length).toBeLessThanOrEqual(Math.max(2, wanted + 1));
        values.forEach((value, i) => {
          // A multiple is rounded to a double.
          expect(value).toBeGreaterThanOrEqual(low - step / 1000);
          expect(value).toBeLessThanOrEqual(high + step / 1000);
          if (i > 0) expect(value).toBeGreaterThan(values[i - 1]!);
        });
      }),
    );
  });

  test("have labels that tell them apart", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: 1, max: 9999 }), (low, span) => {
        const labels = tickLabels(roundTicks([low / 100, (low + span) / 100], 5));
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });

  test("of a horizontal axis have room for their labels", () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 100, max: 2000 }), ([low, high], pixels) => {
        const { values, labels } = ticksWithin([low, high], pixels);
        expect(labels).toHaveLength(values.length);
        const characters = labels.reduce((sum, label) => sum + label.length, 0);
        if (labels.length > 2) expect(6 * characters).toBeLessThan(pixels * 1.5);
      }),
    );
    expect(ticksWithin([0, 9950], 290).labels).toEqual(["0", "2000", "4000", "6000", "8000"]);
    expect(ticksWithin([0, 9950], 100).labels).toEqual(["0", "5000"]);
  });
});

test.each<[Range, number, Range]>([
  [[0.1, 0.97], 0.2, [0, 1]],
  [[-3, 7], 5, [-5, 10]],
  [[2, 4], 2, [2, 4]],
  [[3, 3], 0, [3, 3]],
  [[-1.7e308, 1.7e308], 1e308, [-1.7e308, 1.7e308]],
])("%j in steps of %d begins and ends at ticks: %j", (range, step, expected) => {
  expect(roundRange(range, { step })).toEqual(expected);
});

test.each([
  [0, "0"],
  [0.1 + 0.2, "0.3"],
  [-12.345678, "-12.346"],
  [14_150, "14150"],
  [1_234_567.891, "1234568"],
  [1.5e-7, "1.5e-7"],
  [2e20, "2e20"],
  [123_456_789, "123456789"],
])("%d is written as %s", (value, text) => expect(shortNumber(value)).toBe(text));
