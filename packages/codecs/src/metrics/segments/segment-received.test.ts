import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { anyPoints, columnsOf, idsFrom } from "../columns/metric-columns.fixture.ts";
import { decodeSegmentKey, blockColumnsOfSegment, decodeSegment } from "./decode-segment.ts";
import { encodeSegment } from "./encode-segment.ts";

describe("a segment of version 2", () => {
  test("says when each point was received, of all keys together and of one alone", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const plain = columnsOf(points);
        fc.pre(plain.keys.length > 0);
        const receivedUs = Float64Array.from(plain.steps, (_, i) => 1.7e15 + i);
        const columns = { ...plain, receivedUs };
        const ids = idsFrom(columns, 3, 1);
        const segment = encodeSegment(columns, ids);
        expect(segment[0]).toBe(2);
        const decoded = decodeSegment(segment);
        expect(decoded).toMatchObject({ receivedUs, values: columns.values });
        expect(blockColumnsOfSegment(decoded, 1).receivedUs).toEqual(receivedUs);
        columns.keys.forEach((_, k) => {
          const own = decodeSegmentKey(segment, ids[k]!)!;
          const dense = columns.offsets.length === 0;
          const indexes = dense
            ? Array.from(receivedUs, (_, i) => i)
            : [...columns.pointIndexes.subarray(columns.offsets[k], columns.offsets[k + 1])];
          expect([...own.receivedUs!]).toEqual(indexes.map((i) => receivedUs[i]));
        });
      }),
    );
  });

  test("is refused where times and points differ in number, and where it is cut", () => {
    const columns = columnsOf([{ metrics: { a: 1 }, step: 1, timestampUs: null }]);
    const wrong = { ...columns, receivedUs: Float64Array.of(1, 2) };
    expect(() => encodeSegment(wrong, Uint32Array.of(0))).toThrow(expect.objectContaining({ name: "CodecError" }));
    const segment = encodeSegment({ ...columns, receivedUs: Float64Array.of(1) }, Uint32Array.of(0));
    for (let length = 0; length < segment.length; length++) {
      expect(() => decodeSegment(segment.slice(0, length))).toThrow(expect.objectContaining({ name: "CodecError" }));
    }
  });

  test("is written only for points that are restored", () => {
    const columns = columnsOf([{ metrics: { a: 1 }, step: 1, timestampUs: null }]);
    const segment = encodeSegment(columns, Uint32Array.of(0));
    expect(segment[0]).toBe(1);
    expect(decodeSegment(segment).receivedUs).toBeUndefined();
  });
});
