import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { PAPER } from "../scene/figure.ts";
import { binsSheet, commonBins, evenly, type StepHistogram } from "./bins.ts";
import { heatScene, stepEnds } from "./heat-scene.ts";
import { ridgeScene } from "./ridge-scene.ts";

const at = (step: number, edges: readonly number[], counts: readonly number[]): StepHistogram => ({
  step,
  histogram: { edges, counts },
});
const SIZE = { width: 400, height: 200 };

describe("histograms over common bins", () => {
  test("divide counts by the parts of a bin's width", () => {
    const bins = commonBins([at(1, [0, 4], [8]), at(5, [2, 3, 4], [1, 3])], 4)!;
    expect(bins.edges).toEqual([0, 1, 2, 3, 4]);
    expect(bins.counts).toEqual([
      [2, 2, 2, 2],
      [0, 0, 1, 3],
    ]);
    expect(bins.shares).toEqual([
      [0.25, 0.25, 0.25, 0.25],
      [0, 0, 0.25, 0.75],
    ]);
    expect([bins.steps, bins.most]).toEqual([[1, 5], 0.75]);
    expect(binsSheet(bins).rows.slice(4)).toEqual([
      [5, 0, 1, 0, 0],
      [5, 1, 2, 0, 0],
      [5, 2, 3, 1, 0.25],
      [5, 3, 4, 3, 0.75],
    ]);
  });

  test("have all values of a bin without width in one place, and a range where all values are one", () => {
    expect(commonBins([at(0, [0, 1, 1, 2], [0, 6, 0])], 2)!.counts).toEqual([[0, 6]]);
    const one = commonBins([at(0, [3, 3], [5])], 2)!;
    expect([one.edges, one.counts]).toEqual([[2.5, 3, 3.5], [[0, 5]]]);
  });

  test("are none without histograms, or where their range is too large for numbers", () => {
    expect(commonBins([], 4)).toBeUndefined();
    expect(commonBins([at(0, [-Number.MAX_VALUE, Number.MAX_VALUE], [1])], 4)).toBeUndefined();
  });

  test("keep the number of values of each step", () => {
    const edges = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 12 });
    const histogram = edges.chain((some) =>
      fc.record({
        edges: fc.constant(some.toSorted((a, b) => a - b)),
        counts: fc.array(fc.nat(1000), { minLength: some.length - 1, maxLength: some.length - 1 }),
      }),
    );
    fc.assert(
      fc.property(
        fc.array(histogram, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 70 }),
        (all, count) => {
          const bins = commonBins(
            all.map((one, step) => ({ step, histogram: one })),
            count,
          )!;
          for (const [i, row] of bins.counts.entries()) {
            const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
            expect(sum(row)).toBeCloseTo(sum(all[i]!.counts), 6);
          }
        },
      ),
    );
  });
});

test("steps are chosen evenly, with the first and the last", () => {
  expect(evenly([1, 2, 3], 3)).toEqual([1, 2, 3]);
  expect(evenly([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 3)).toEqual([0, 5, 10]);
});

test("cells of a heat map end in the middle between steps", () => {
  expect(stepEnds([10, 20, 40])).toEqual([5, 15, 30, 50]);
  expect(stepEnds([7])).toEqual([6.5, 7.5]);
});

describe("pictures of histograms", () => {
  const bins = commonBins([at(10, [0, 1, 2], [1, 3]), at(20, [0, 1, 2], [2, 2])], 2)!;

  test("a heat map has a cell for each bin with values, the largest share in the lightest color", () => {
    const { scene, at: binAt } = heatScene(bins, SIZE, PAPER);
    const boxes = scene.inside.flatMap((shape) => (shape.kind === "boxes" ? [shape] : []));
    expect(boxes.map(({ boxes: cells }) => cells.length / 4).reduce((a, b) => a + b)).toBe(4);
    const { plot } = scene;
    const lightest = boxes.find(({ fill }) => fill === "#fee838")!.boxes;
    // The upper bin of the first step: the left upper quarter.
    expect([...lightest]).toEqual(
      [plot.left, plot.top, plot.width / 2, plot.height / 2].map((pixels) => expect.closeTo(pixels, -0.3)),
    );
    expect(binAt(plot.left + 1, plot.top + 1)).toEqual({ step: 0, bin: 1 });
    expect(binAt(plot.left + plot.width - 1, plot.top + plot.height - 1)).toEqual({ step: 1, bin: 0 });
    expect(binAt(plot.left - 5, 0)).toBeUndefined();
  });

  test("ridges have one scale, the first step at the back, and the names of steps", () => {
    const { scene, at: binAt } = ridgeScene(bins, "#4248fe", SIZE, PAPER);
    const ridges = scene.inside.flatMap((shape) => (shape.kind === "path" ? [shape] : []));
    expect(ridges.map(({ label }) => label)).toEqual(["Step 10", "Step 20"]);
    const heights = ridges.map(({ points }) => [3, 5].map((i) => points[1]! - points[i]!));
    const peak = heights[0]![1]!;
    expect(heights).toEqual([
      [expect.closeTo(peak / 3, 6), peak],
      [expect.closeTo((peak * 2) / 3, 6), expect.closeTo((peak * 2) / 3, 6)],
    ]);
    const { plot } = scene;
    expect(ridges[1]!.points[1]).toBe(plot.top + plot.height);
    expect(scene.around.flatMap((shape) => (shape.kind === "text" ? [shape.text] : []))).toEqual(
      expect.arrayContaining(["10", "20"]),
    );
    expect(binAt(plot.left + 2, plot.top + plot.height - 1)).toEqual({ step: 1, bin: 0 });
  });
});
