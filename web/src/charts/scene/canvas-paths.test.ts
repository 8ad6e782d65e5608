import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { fillBands, fillDots, strokeLines, thinned } from "./canvas-paths.ts";

const { NaN: nan } = Number;
const pixels = { ratio: 1, width: 100 };
type Step = readonly [what: "move" | "line" | "stroke" | "fill", x?: number, y?: number];

/** A context that notes what is done to it; `offsets` are those of the dashes of each stroke. */
function recorder() {
  const steps: Step[] = [];
  const offsets: number[] = [];
  const context = {
    lineDashOffset: 0,
    beginPath: () => {},
    moveTo: (x: number, y: number) => void steps.push(["move", x, y]),
    lineTo: (x: number, y: number) => void steps.push(["line", x, y]),
    arc: (x: number, y: number) => void steps.push(["line", x, y]),
    stroke: () => {
      steps.push(["stroke"]);
      offsets.push(context.lineDashOffset);
    },
    fill: () => void steps.push(["fill"]),
  };
  return { steps, offsets, context };
}

const lineOf = (...points: number[]): Float64Array => Float64Array.from(points);
/** A flat line of `count` points, ten pixels apart. */
const flat = (count: number): Float64Array =>
  Float64Array.from({ length: 2 * count }, (_, i) => (i % 2 === 0 ? 5 * i : 7));

describe("lines", () => {
  const stroked = (points: Float64Array, more: { isDashed?: boolean; isOpaque?: boolean } = {}) => {
    const { steps, offsets, context } = recorder();
    strokeLines(context, points, { pixels, isDashed: false, isOpaque: true, ...more });
    return { steps, offsets, after: context.lineDashOffset };
  };

  test("that are short are one stroke, with a piece for each", () => {
    expect(stroked(lineOf(0, 1, 10, 2, nan, nan, 20, 3, 30, 4, nan, nan)).steps).toEqual([
      ["move", 0, 1],
      ["line", 10, 2],
      ["move", 20, 3],
      ["line", 30, 4],
      ["stroke"],
    ]);
  });

  test("that are long are cut in the middle between two points, where opaque pieces overlap a little", () => {
    const cut = (isOpaque: boolean) =>
      stroked(flat(20), { isOpaque }).steps.filter((_, i, all) => {
        const at = all.findIndex(([what]) => what === "stroke");
        return i >= at - 1 && i <= at + 2;
      });
    expect(cut(true)).toEqual([["line", 155.2, 7], ["stroke"], ["move", 154.8, 7], ["line", 160, 7]]);
    expect(cut(false)).toEqual([["line", 155, 7], ["stroke"], ["move", 155, 7], ["line", 160, 7]]);
  });

  test("pass all their points in order", () => {
    const points = flat(100);
    const xs = stroked(points).steps.flatMap(([, x]) => (x !== undefined && x % 10 === 0 ? [x] : []));
    expect(Float64Array.from(xs)).toEqual(points.filter((_, i) => i % 2 === 0));
  });

  test("with dashes go on with them behind a cut, and start over with the next line", () => {
    const { offsets, after } = stroked(lineOf(...flat(20), nan, nan, 300, 7, 310, 7), { isDashed: true });
    expect(offsets).toEqual([0, 154.8, 0]);
    expect(after).toBe(0);
  });

  test("have the first, lowest, highest and last point of each column of pixels where there are many", () => {
    const values = [3, 9, 1, 5, 4, 2, 2, 8];
    const column = (x: number): number[] => values.flatMap((y, i) => [x + i / 100, y]);
    const points = lineOf(...Array.from({ length: 100 }, (_, x) => column(x)).flat());
    const kept = thinned(points, pixels);
    expect([...kept.subarray(0, 10)]).toEqual([0, 3, 0.01, 9, 0.02, 1, 0.07, 8, 1, 3]);
    expect(kept).toHaveLength(100 * 8);
    // On a screen of twice the density, columns are half as wide.
    expect(thinned(points, { ratio: 2, width: 100 })).toBe(points);
  });

  test("keep the extremes of each column and every gap, whatever they are", () => {
    const value = fc.oneof(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), fc.constant(nan));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), value), { maxLength: 60 }), (all) => {
        const pairs = all.toSorted(([a], [b]) => a - b).map(([x, y]) => (Number.isNaN(y) ? [nan, nan] : [x, y]));
        const extremes = (of: ArrayLike<number>) =>
          [0, 1, 2, 3].map((x) => {
            const ys = Array.from({ length: of.length / 2 }, (_, i) => i).flatMap((i) =>
              of[2 * i] === x ? [of[2 * i + 1]!] : [],
            );
            return ys.length === 0 ? [] : [Math.min(...ys), Math.max(...ys)];
          });
        const kept = thinned(Float64Array.from(pairs.flat()), { ratio: 1, width: 0 });
        expect(extremes(kept)).toEqual(extremes(pairs.flat()));
        expect(kept.filter(Number.isNaN)).toHaveLength(2 * pairs.filter(([x]) => Number.isNaN(x)).length);
      }),
    );
  });
});

test("dots are filled in pieces, unless one sees where they cover each other", () => {
  const fillsOf = (alpha: number) => {
    const { steps, context } = recorder();
    fillDots(context, { points: flat(40), radius: 2, alpha });
    return [
      steps.filter(([what]) => what === "fill").length,
      steps.flatMap(([what, x]) => (what === "line" ? [x] : [])).length,
      steps.at(-1),
    ];
  };
  expect(fillsOf(1)).toEqual([3, 40, ["fill"]]);
  expect(fillsOf(0.5)).toEqual([1, 40, ["fill"]]);
});

describe("bands", () => {
  test("that are short are filled as they are, each by itself", () => {
    const { steps, context } = recorder();
    fillBands(context, lineOf(0, 1, 10, 1, 10, 5, 0, 5, nan, nan, 20, 1, 30, 1, 30, 5, 20, 5, nan, nan), 1);
    const band = (x: number): Step[] => [
      ["move", x, 1],
      ["line", x, 1],
      ["line", x + 10, 1],
      ["line", x + 10, 5],
      ["line", x, 5],
      ["fill"],
    ];
    expect(steps).toEqual([...band(0), ...band(20)]);
  });

  test("that are long are cut between two columns of pixels, where both pieces end upright", () => {
    const count = 40;
    const upper = Array.from({ length: count }, (_, i) => [i * 2 + 0.5, 10]);
    const lower = upper.map(([x]) => [x!, 20]).toReversed();
    const { steps, context } = recorder();
    fillBands(context, lineOf(...[...upper, ...lower].flat(), nan, nan), 1);
    const fills = steps.flatMap(([what], i) => (what === "fill" ? [i] : []));
    expect(fills).toHaveLength(3);
    // The first piece has 16 points of each edge, and a cut at the next whole pixel.
    expect(steps.slice(17, 19)).toEqual([
      ["line", 31, 10],
      ["line", 31, 20],
    ]);
    expect([steps[fills[0]! + 1], steps[fills[1]! - 1]]).toEqual([
      ["move", 31, 10],
      ["line", 31, 20],
    ]);
  });

  test("have all their area in their pieces, whatever their places", () => {
    const distance = fc.double({ noNaN: true, min: 0.01, max: 5 });
    fc.assert(
      fc.property(fc.array(fc.tuple(distance, distance), { minLength: 1, maxLength: 120 }), (all) => {
        let x = 0;
        const upper = all.map(([apart]) => [(x += apart), 0]);
        const lower = upper.map(([at], i) => [at!, all[i]![1]]).toReversed();
        const { steps, context } = recorder();
        fillBands(context, lineOf(...[...upper, ...lower].flat(), nan, nan), 2);
        const areaOf = (points: readonly (readonly number[])[]): number =>
          points.reduce((sum, [px, py], i) => {
            const [qx, qy] = points[(i + 1) % points.length]!;
            return sum + (px! * qy! - qx! * py!) / 2;
          }, 0);
        let [filled, piece] = [0, [] as number[][]];
        for (const [what, px, py] of steps) {
          if (what !== "fill") {
            piece.push([px!, py!]);
            continue;
          }
          filled += areaOf(piece);
          piece = [];
        }
        expect(filled).toBeCloseTo(areaOf([...upper, ...lower] as number[][]), 6);
      }),
    );
  });
});
