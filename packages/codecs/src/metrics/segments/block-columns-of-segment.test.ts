import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { checkBlockColumns } from "../columns/block-columns.ts";
import { blockColumnsOf, inBits } from "../columns/block-columns.fixture.ts";
import { anyPoints, columnsOf, type Point } from "../columns/metric-columns.fixture.ts";
import { blockColumnsOfSegment, decodeSegment } from "./decode-segment.ts";
import { encodeSegment } from "./encode-segment.ts";

/** Returns the stored points of the batch, with its keys numbered by `idOf`. */
function stored(points: readonly Point[], receivedUs: number, idOf: (key: string) => number) {
  return points
    .filter((point) => Object.keys(point.metrics).length > 0)
    .map(({ metrics, step, timestampUs }) => ({
      step,
      timestampUs,
      receivedUs,
      values: new Map(Object.entries(metrics).map(([key, value]) => [idOf(key), value])),
    }));
}

describe("the columns of a segment", () => {
  test("are its points with the keys in the order of their ids", () => {
    fc.assert(
      fc.property(anyPoints, fc.infiniteStream(fc.nat(1_000_000)), fc.boolean(), (points, random, reversed) => {
        const columns = columnsOf(points);
        const taken = new Set<number>();
        for (const id of random) if (taken.add(id).size > columns.keys.length) break;
        const ids = [...taken].slice(0, columns.keys.length).sort((a, b) => (reversed ? b - a : a - b));
        const idOf = (key: string): number => ids[columns.keys.indexOf(key)]!;
        const expected = inBits(blockColumnsOf(stored(points, 77, idOf)));
        const byIds = blockColumnsOfSegment(decodeSegment(encodeSegment(columns, Uint32Array.from(ids))), 77);
        checkBlockColumns(byIds);
        expect(inBits(byIds)).toEqual(expected);
      }),
    );
  });

  const columns = columnsOf([{ metrics: { a: 1, b: 2, c: 3 }, step: 1, timestampUs: null }]);

  test.each([
    ["one after another", [4, 4, 5]],
    ["apart", [5, 4, 5]],
  ])("are refused if two keys have the same id, %s", (_, ids) => {
    const segment = decodeSegment(encodeSegment(columns, Uint32Array.from(ids)));
    expect(() => blockColumnsOfSegment(segment, 1)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });
});
