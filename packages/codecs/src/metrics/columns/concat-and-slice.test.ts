import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { checkBlockColumns, countValues } from "./block-columns.ts";
import { anyBlockPoints, blockColumnsOf, inBits, type BlockPoint } from "./block-columns.fixture.ts";
import { concatColumns, sliceKeys } from "./concat-and-slice.ts";

/** Returns the points with only the keys in `[fromId, toId)`, without the points that have none of them. */
function ofKeys(points: readonly BlockPoint[], fromId: number, toId: number) {
  return points
    .map((point) => ({ ...point, values: new Map([...point.values].filter(([id]) => id >= fromId && id < toId)) }))
    .filter((point) => point.values.size > 0);
}

describe("columns of blocks", () => {
  test("concatenated are the columns of all points in the order of the parts", () => {
    fc.assert(
      fc.property(fc.array(anyBlockPoints, { maxLength: 4 }), (parts) => {
        const whole = concatColumns(parts.map(blockColumnsOf));
        checkBlockColumns(whole);
        expect(inBits(whole)).toEqual(inBits(blockColumnsOf(parts.flat())));
      }),
    );
  });

  test("concatenated of ids far apart are the same as of ids close together", () => {
    const far = 4_000_000_000;
    fc.assert(
      fc.property(fc.array(anyBlockPoints, { minLength: 2, maxLength: 4 }), (parts) => {
        const moved = parts.map((points, i) =>
          points.map((point) => ({
            ...point,
            values: new Map([...point.values].map(([id, value]) => [i % 2 === 0 ? id : far + id, value])),
          })),
        );
        expect(inBits(concatColumns(moved.map(blockColumnsOf)))).toEqual(inBits(blockColumnsOf(moved.flat())));
      }),
    );
  });

  test("concatenated in any grouping are the same", () => {
    fc.assert(
      fc.property(anyBlockPoints, anyBlockPoints, anyBlockPoints, (...parts) => {
        const [a, b, c] = parts.map(blockColumnsOf);
        const left = concatColumns([concatColumns([a!, b!]), c!]);
        expect(inBits(left)).toEqual(inBits(concatColumns([a!, concatColumns([b!, c!])])));
      }),
    );
  });

  test("of no parts are none", () => {
    expect(concatColumns([])).toEqual(blockColumnsOf([]));
    checkBlockColumns(concatColumns([]));
  });

  test("cut by keys have no times if the remaining points have none", () => {
    const receivedUs = 1_767_000_000_000_000;
    const untimed: BlockPoint = { step: 0, receivedUs, timestampUs: null, values: new Map([[41, 0]]) };
    const timed: BlockPoint = { step: 1, receivedUs, timestampUs: receivedUs, values: new Map([[33, 0]]) };
    const columns = blockColumnsOf([untimed, timed]);
    expect(sliceKeys(columns, 41, 42)!.timestampsUs).toHaveLength(0);
    expect(sliceKeys(columns, 33, 34)!.timestampsUs).toEqual(Float64Array.of(receivedUs));
  });

  test("cut by keys are those of the points with only these keys", () => {
    fc.assert(
      fc.property(anyBlockPoints, fc.integer({ min: 31, max: 48 }), fc.nat(8), (points, fromId, width) => {
        const slice = sliceKeys(blockColumnsOf(points), fromId, fromId + width);
        const own = ofKeys(points, fromId, fromId + width);
        if (own.length === 0) expect(slice).toBeNull();
        else {
          checkBlockColumns(slice!);
          expect(inBits(slice)).toEqual(inBits(blockColumnsOf(own)));
        }
      }),
    );
  });

  test("cut into key ranges neither lose nor repeat a value", () => {
    fc.assert(
      fc.property(anyBlockPoints, fc.integer({ min: 1, max: 16 }), (points, width) => {
        const columns = blockColumnsOf(points);
        let values = 0;
        for (let id = 32; id < 48; id += width) {
          const part = sliceKeys(columns, id, id + width);
          if (part !== null) values += countValues(part);
        }
        expect(values).toBe(countValues(columns));
      }),
    );
  });
});
