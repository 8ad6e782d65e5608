import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { scaleOf, widened } from "./scale.ts";
import { shortDuration, shortNumber } from "./numbers.ts";
import { clockTicks, durationTicks, linearTicks, logTicks } from "./ticks.ts";

const labels = (ticks: readonly { readonly label: string }[]): string[] => ticks.map(({ label }) => label);

describe("ticks", () => {
  test.each<[readonly [number, number], number, string[]]>([
    [[0, 1], 5, ["0.00", "0.25", "0.50", "0.75", "1.00"]],
    [[0, 1], 7, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]],
    [[0, 1e6], 4, ["0", "0.25M", "0.50M", "0.75M", "1.00M"]],
    [[-3, 3], 3, ["-2", "0", "2"]],
    [[0, 2e-5], 3, ["0", "1e-5", "2e-5"]],
    [[5, 5], 4, ["5"]],
    [[0.1, 0.97], 5, ["0.2", "0.4", "0.6", "0.8"]],
    [[0, 19_950], 4, ["0", "5k", "10k", "15k"]],
    [[0, 4e9], 4, ["0", "1G", "2G", "3G", "4G"]],
    [[1_000_000, 1_000_001], 4, ["1000000.00", "1000000.25", "1000000.50", "1000000.75", "1000001.00"]],
    [[0, 2.5e20], 4, ["0", "5e19", "1e20", "1.5e20", "2e20", "2.5e20"]],
  ])("of %j", (range, wanted, expected) => {
    expect(labels(linearTicks(range, wanted))).toEqual(expected);
  });

  test("of logarithmic axes are powers of ten, thinned out, or finer ones in short ranges", () => {
    expect(labels(logTicks([1e-3, 1e3], 8))).toEqual(["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
    expect(labels(logTicks([1e-3, 1e3], 3))).toEqual(["0.001", "1", "1000"]);
    expect(labels(logTicks([1.5, 8], 5))).toEqual(["2", "3", "5", "7"]);
    expect(logTicks([2.1, 2.2], 5).length).toBeGreaterThanOrEqual(2);
  });

  test("of logarithmic axes are few and within the range, for any numbers above 0", () => {
    const positive = fc.double({ noNaN: true, noDefaultInfinity: true, min: Number.MIN_VALUE });
    const ends = fc.oneof(positive, fc.constantFrom(Number.MIN_VALUE, 9e307, Number.MAX_VALUE, 0, Infinity));
    fc.assert(
      fc.property(ends, ends, fc.integer({ min: 2, max: 12 }), (a, b, wanted) => {
        const values = logTicks([Math.min(a, b), Math.max(a, b)], wanted).map(({ value }) => value);
        expect(values.length).toBeLessThanOrEqual(3 * (wanted + 2));
        for (const value of values) expect(value > 0 && value <= Number.MAX_VALUE).toBe(true);
      }),
    );
  });

  test("of times stand at round times", () => {
    expect(labels(durationTicks([0, 200], 4))).toEqual(["0 s", "1 min", "2 min", "3 min"]);
    const noon = Date.UTC(2026, 10, 25, 23, 0);
    expect(labels(clockTicks([noon, noon + 7_200_000], 4, 0))).toEqual([
      "11-25 23:00",
      "23:30",
      "11-26 00:00",
      "00:30",
      "01:00",
    ]);
    expect(labels(clockTicks([noon, noon + 3_600_000], 2, 60))).toEqual(["11-26 00:00", "00:30", "01:00"]);
  });

  test("are at least four and at most eight where a side has room, whatever it covers", () => {
    const low = fc.double({ noNaN: true, min: -1e6, max: 1e6 });
    const span = fc.double({ noNaN: true, min: 1e-3, max: 1e6 });
    fc.assert(
      fc.property(low, span, fc.integer({ min: 4, max: 8 }), (from, length, wanted) => {
        const count = linearTicks([from, from + length], wanted).length;
        expect([count >= 4, count <= Math.max(7, wanted)]).toEqual([true, true]);
      }),
    );
    const ends = fc.double({ noNaN: true, min: -5, max: 5 });
    fc.assert(
      fc.property(
        ends,
        fc.double({ noNaN: true, min: 0.1, max: 30 }),
        fc.integer({ min: 6, max: 8 }),
        (from, decades, wanted) => {
          const count = logTicks([10 ** from, 10 ** (from + decades)], wanted).length;
          expect([count >= 3, count <= 8]).toEqual([true, true]);
        },
      ),
    );
  });

  test("of steps are whole numbers", () => {
    expect(labels(linearTicks([0.9, 3.1], 8, true))).toEqual(["1", "2", "3"]);
    expect(labels(linearTicks([0, 10], 7, true))).toEqual(["0", "2", "4", "6", "8", "10"]);
    expect(labels(linearTicks([0, 100], 5, true))).toEqual(["0", "25", "50", "75", "100"]);
  });

  test("have labels that can be distinguished", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: 1, max: 9999 }), (low, span) => {
        const found = labels(linearTicks([low / 100, (low + span) / 100], 5));
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });

  test("lie within their range, in ascending order, and are not many", () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e200, max: 1e200 });
    fc.assert(
      fc.property(finite, finite, fc.integer({ min: 2, max: 12 }), (a, b, wanted) => {
        const range = [Math.min(a, b), Math.max(a, b)] as const;
        const values = linearTicks(range, wanted).map(({ value }) => value);
        const room = Math.max(...range.map(Math.abs)) * 4 * Number.EPSILON + Number.MIN_VALUE;
        expect(values.length).toBeLessThanOrEqual(wanted + 3);
        values.forEach((value, i) => {
          expect(value >= range[0] - room && value <= range[1] + room).toBe(true);
          if (i > 0) expect(value).toBeGreaterThan(values[i - 1]!);
        });
      }),
    );
  });
});

test("scales lead to pixels and back", () => {
  for (const [scale, value] of [
    [scaleOf([0, 10], [100, 0]), 2.5],
    [scaleOf([1, 1000], [0, 300], true), 50],
  ] as const)
    expect(scale.toValue(scale.toPixel(value))).toBeCloseTo(value, 9);
  expect(scaleOf([1, 1000], [0, 300], true).toPixel(10)).toBeCloseTo(100, 9);
  expect(scaleOf([1, 1000], [0, 300], true).toPixel(0)).toBeNaN();
  expect(scaleOf([3, 3], [0, 100]).toPixel(3)).toBe(50);
  expect(scaleOf([-Number.MAX_VALUE, Number.MAX_VALUE], [0, 100]).toPixel(0)).toBe(50);
});

test("ranges are widened on both sides", () => {
  expect(widened([0, 10], 0.1)).toEqual([-1, 11]);
  expect(widened([4, 4], 0.1)).toEqual([3.6, 4.4]);
  expect(widened([0, 0], 0.1)).toEqual([-1, 1]);
  const [low, high] = widened([1, 100], 0.5, true);
  expect(low).toBeCloseTo(0.1, 9);
  expect(high).toBeCloseTo(1000, 9);
});

test.each([Number.MIN_VALUE, 5e-324, 1, 9e307, Number.MAX_VALUE])(
  "a range around %p alone is finite and drawable",
  (value) => {
    for (const log of [false, true]) {
      for (const range of [widened([value, value], 0.04, log), widened([value, Number.MAX_VALUE], 0.04, log)]) {
        expect(range.every(Number.isFinite)).toBe(true);
        expect(range[0]).toBeLessThan(range[1]);
        const scale = scaleOf(range, [0, 100], log);
        expect(scale.toPixel(value)).toBeGreaterThanOrEqual(0);
        expect(scale.toPixel(value)).toBeLessThanOrEqual(100);
        for (const pixel of [-50, 0, 100, 150]) {
          const back = scale.toValue(pixel);
          expect(Number.isNaN(back) || (log && !(back > 0 && back <= Number.MAX_VALUE))).toBe(false);
        }
      }
    }
  },
);

test("numbers and lengths of time are short", () => {
  expect([0, 0.1 + 0.2, 123456.789, 1e-7, 1.5e20, Number.NaN, -Infinity].map(shortNumber)).toEqual([
    "0",
    "0.3",
    "123457",
    "1e-7",
    "1.5e20",
    "NaN",
    "-Infinity",
  ]);
  expect([0.5, 45, 200, 3600, 7500, 97_200, -90].map(shortDuration)).toEqual([
    "0.5 s",
    "45 s",
    "3 min 20 s",
    "1 h",
    "2 h 5 min",
    "1 d 3 h",
    "-1 min 30 s",
  ]);
});
