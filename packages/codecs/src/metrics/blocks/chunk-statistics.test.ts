import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { anyBlockPoints, blockColumnsOf, pointsWith } from "../columns/block-columns.fixture.ts";
import { CHUNK_STATISTICS_BYTES } from "../storage-layout.ts";
import { readChunkStatistics } from "./chunk-statistics.ts";
import { encodeBlock } from "./encode-block.ts";

const options = { firstKey: 32, width: 16, effort: "fast" as const };

describe("the statistics of a block", () => {
  test("say of each slot what M4 would keep of its points, or that some are not finite, nothing of absent ones, and end with the last key", () => {
    fc.assert(
      fc.property(anyBlockPoints, (points) => {
        const { statistics } = encodeBlock(blockColumnsOf(points), options);
        const last = Math.max(...points.flatMap((point) => [...point.values.keys()]));
        expect(statistics).toHaveLength(CHUNK_STATISTICS_BYTES * (last - 32 + 1));
        for (let keyId = 32; keyId < 48; keyId++) {
          const at = CHUNK_STATISTICS_BYTES * (keyId - 32);
          const chunk = readChunkStatistics(statistics!.subarray(at, at + CHUNK_STATISTICS_BYTES));
          const own = pointsWith(points, keyId).map((point) => [point.step, point.values.get(keyId)!] as const);
          expect(chunk.count).toBe(own.length);
          if (own.length === 0) continue;
          // Sorting is stable: points of one step stay in the order of arrival.
          const byStep = own.toSorted((a, b) => a[0] - b[0]);
          expect([chunk.firstStep, chunk.firstValue]).toEqual(byStep[0]);
          expect([chunk.lastStep, chunk.lastValue]).toEqual(byStep.at(-1));
          if (!own.every(([, value]) => Number.isFinite(value))) {
            expect([chunk.min, chunk.max]).toEqual([NaN, NaN]);
            continue;
          }
          expect([chunk.minStep, chunk.min]).toEqual(byStep.toSorted((a, b) => a[1] - b[1])[0]);
          expect([chunk.maxStep, chunk.max]).toEqual(byStep.toSorted((a, b) => b[1] - a[1])[0]);
        }
      }),
    );
  });

  test("are not kept for key ranges of more than 16 keys", () => {
    const columns = blockColumnsOf([{ step: 0, receivedUs: 1, timestampUs: null, values: new Map([[32, 1]]) }]);
    expect(encodeBlock(columns, { ...options, width: 256 }).statistics).toBeNull();
  });

  test("are read anywhere in a larger buffer", () => {
    const numbers = Float64Array.of(2, 1, 1.5, 3, -0, -0, 3, 1.5, 1);
    for (const at of [0, 1, 8]) {
      const larger = new Uint8Array(CHUNK_STATISTICS_BYTES + 8);
      larger.set(new Uint8Array(numbers.buffer), at);
      expect(Object.values(readChunkStatistics(larger.subarray(at, at + CHUNK_STATISTICS_BYTES)))).toEqual([
        ...numbers,
      ]);
    }
  });

  test.each<[string, Uint8Array]>([
    ["statistics that are cut short", new Uint8Array(71)],
    ["statistics of two chunks", new Uint8Array(144)],
    ["statistics of half a point", new Uint8Array(Float64Array.of(0.5, 1, 1, 1, 1, 1, 1, 1, 1).buffer)],
    ["statistics of fewer points than none", new Uint8Array(Float64Array.of(-1, 1, 1, 1, 1, 1, 1, 1, 1).buffer)],
    ["statistics with a count that is not a number", new Uint8Array(72).fill(0xff)],
  ])("%s are refused", (_, bytes) => {
    expect(() => readChunkStatistics(bytes)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });
});
