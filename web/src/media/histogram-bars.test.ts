import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { barsOf, readHistogram } from "./histogram-bars.ts";

test("edges are taken, centers get edges", () => {
  expect(readHistogram({ bins: [0, 1, 3], counts: [2, 4] })).toEqual({ edges: [0, 1, 3], counts: [2, 4] });
  expect(readHistogram({ bins: [1, 3], counts: [2, 4] })?.edges).toEqual([0, 2, 4]);
  expect(readHistogram({ bins: [1], counts: [2] })?.edges).toEqual([0.5, 1.5]);
  expect(readHistogram({ bins: [0, 1, 2n ** 53n + 1n], counts: [2, 4] })?.edges).toEqual([0, 1, 2 ** 53]);
});

test.each([
  [null],
  ["x"],
  [{}],
  [{ bins: [1], counts: [] }],
  [{ bins: [1, 2, 3, 4], counts: [1] }],
  [{ bins: ["a"], counts: [1] }],
])("%j is not a histogram", (value) => expect(readHistogram(value)).toBeUndefined());

test("bars have the shares of their bins", () => {
  const bars = barsOf({ edges: [0, 1, 4], counts: [1, 2] }, 100, 50);
  expect(bars.map(({ x, y, width, height }) => [x, y, width, height])).toEqual([
    [0, 25, 25, 25],
    [25, 0, 75, 50],
  ]);
  expect(bars[1]!.words).toBe("1 to 4: 2");
});

test("bars never leave their box", () => {
  const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(numbers, (edges) => {
      const counts = edges.slice(1).map((_, i) => i);
      for (const bar of barsOf({ edges, counts }, 100, 50)) {
        expect(bar.x).toBeGreaterThanOrEqual(0);
        expect(bar.x).toBeLessThanOrEqual(100);
        expect(bar.y).toBeGreaterThanOrEqual(-1e-9);
        expect(bar.height).toBeLessThanOrEqual(50 + 1e-9);
      }
    }),
  );
});
