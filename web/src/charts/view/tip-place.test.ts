import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { tipPlace } from "./tip-place.ts";

const window = { width: 1000, height: 800 };
const at = (x: number, y: number) => ({ left: x, right: x, top: y, bottom: y });

test.each([
  ["right of it", at(300, 400), { width: 200, height: 100 }, { left: 314, top: 350 }],
  ["left of it at the right edge", at(900, 400), { width: 200, height: 100 }, { left: 686, top: 350 }],
  ["within the window at the top", at(300, 10), { width: 200, height: 100 }, { left: 314, top: 4 }],
  ["within the window at the bottom", at(300, 790), { width: 200, height: 100 }, { left: 314, top: 696 }],
  ["above it where no side has room", at(500, 400), { width: 600, height: 100 }, { left: 200, top: 286 }],
  ["below it where there is no room above", at(500, 60), { width: 600, height: 100 }, { left: 200, top: 74 }],
])("values are %s", (_, pointed, size, place) => {
  expect(tipPlace(pointed, size, window)).toEqual(place);
});

test("values never cover what is pointed at, and are within the window", () => {
  fc.assert(
    fc.property(
      fc.record({ x: fc.integer({ min: 0, max: 390 }), y: fc.integer({ min: 0, max: 844 }) }),
      fc.record({ width: fc.integer({ min: 20, max: 380 }), height: fc.integer({ min: 20, max: 380 }) }),
      ({ x, y }, size) => {
        const { left, top } = tipPlace(at(x, y), size, { width: 390, height: 844 });
        const covers = left <= x && x <= left + size.width && top <= y && y <= top + size.height;
        expect(covers).toBe(false);
        expect(Math.min(left, top, 390 - left - size.width, 844 - top - size.height)).toBeGreaterThanOrEqual(4);
      },
    ),
  );
});
