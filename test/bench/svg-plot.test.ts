import { describe, expect, test } from "@jest/globals";
import { decadeLabel, decadesOf, logPlace, svgOf } from "./svg-plot.ts";

describe("decades", () => {
  test.each([
    ["powers of ten are their own ends", [1e5, 1e8], { from: 5, to: 8 }],
    ["values between are enclosed", [3, 450], { from: 0, to: 3 }],
    ["values below one", [0.2, 0.9], { from: -1, to: 0 }],
    ["one value has a decade around it", [1000], { from: 3, to: 4 }],
    ["what cannot be drawn does not count", [0, -1, 5], { from: 0, to: 1 }],
    ["nothing", [], { from: 0, to: 1 }],
  ])("%s", (_what, values, decades) => {
    expect(decadesOf(values)).toEqual(decades);
  });

  test.each([
    [1e5, 0],
    [1e8, 1],
    [10 ** 6.5, 0.5],
  ])("the place of %d between 1e5 and 1e8", (value, place) => {
    expect(logPlace(value, { from: 5, to: 8 })).toBeCloseTo(place, 12);
  });

  test.each([
    [-2, "0.01"],
    [0, "1"],
    [2, "100"],
    [3, "1k"],
    [5, "100k"],
    [8, "100M"],
    [9, "1G"],
    [12, "1e12"],
  ])("10^%d on an axis", (exponent, label) => {
    expect(decadeLabel(exponent)).toBe(label);
  });
});

test("a plot has its lines, their names, and both axes", () => {
  const svg = svgOf([
    {
      title: "Ingest & reads",
      xLabel: "stored points",
      yLabel: "ms",
      lines: [
        {
          name: "a < b",
          points: [
            [1e5, 1],
            [1e6, 10],
          ],
        },
        {
          name: "c",
          points: [
            [1e5, 1.01],
            [1e6, 10],
          ],
        },
      ],
    },
  ]);
  expect(svg.match(/class="line"/g)).toHaveLength(2);
  expect(svg).toContain('d="M70.0 250.0L570.0 34.0"');
  expect(svg).toContain("Ingest &amp; reads");
  expect(svg).toContain("a &lt; b");
  expect(svg).toContain(">100k</text>");
  // Names at the same height do not lie over each other.
  const heights = [...svg.matchAll(/<text x="592" y="([\d.]+)">/g)].map((match) => Number(match[1]));
  expect(Math.abs(heights[0]! - heights[1]!)).toBeGreaterThanOrEqual(15);
  expect(svg).not.toContain("NaN");
});
