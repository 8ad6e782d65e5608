import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import {
  anyBlockPoints,
  blockColumnsOf,
  inBits,
  pointsWith,
  type BlockPoint,
} from "../columns/block-columns.fixture.ts";
import { anyBits, bitsOf } from "../columns/metric-columns.fixture.ts";
import { decodeBlock, openBlock } from "./decode-block.ts";
import { encodeBlock, type EncodedBlock } from "./encode-block.ts";
import { createScratchBuffer } from "../numbers/bytes.ts";

const effort = fc.constantFrom("fast" as const, "best" as const);

/** Returns the parts of a block that a reader of one key needs, each in its own buffer, `at` bytes into it. */
function partsOf({ data, stepsEnd, axisEnd }: EncodedBlock, slot: number, at = 0) {
  const view = new DataView(data.buffer);
  const [from, bytes] = [view.getUint32(axisEnd + 8 * slot, true), view.getUint32(axisEnd + 8 * slot + 4, true)];
  const own = (part: Uint8Array): Uint8Array => {
    const larger = new Uint8Array(part.length + at);
    larger.set(part, at);
    return larger.subarray(at);
  };
  return {
    steps: own(data.subarray(0, stepsEnd)),
    times: own(data.subarray(stepsEnd, axisEnd)),
    section: own(data.subarray(from, from + bytes)),
  };
}

/** Returns a point of one key. */
function point(step: number, value: number, keyId = 0): BlockPoint {
  return { step, receivedUs: 1, timestampUs: null, values: new Map([[keyId, value]]) };
}

describe("a metric block", () => {
  test("restores any columns, and says what it holds", () => {
    fc.assert(
      fc.property(anyBlockPoints, effort, fc.constantFrom(16, 256), (points, how, width) => {
        const columns = blockColumnsOf(points);
        const block = encodeBlock(columns, { firstKey: 32, width, effort: how });
        expect(inBits(decodeBlock(block.data))).toEqual(inBits(columns));
        const steps = points.map(({ step }) => step);
        expect(block).toMatchObject({
          points: points.length,
          valueCount: columns.values.length,
          firstStep: Math.min(...steps),
          lastStep: Math.max(...steps),
        });
      }),
      { numRuns: 200 },
    );
  });

  test("restores steps, times and values of any bit pattern", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(anyBits, anyBits, anyBits), { minLength: 1, maxLength: 20 }),
        effort,
        (rows, how) => {
          const columns = {
            ...blockColumnsOf(rows.map(() => point(0, 0))),
            steps: Float64Array.from(rows, ([bits]) => bits),
            receivedUs: Float64Array.from(rows, ([, bits]) => bits),
            values: Float64Array.from(rows, ([, , bits]) => bits),
          };
          const { data } = encodeBlock(columns, { firstKey: 0, width: 16, effort: how });
          expect(inBits(decodeBlock(data))).toEqual(inBits(columns));
        },
      ),
    );
  });

  test("restores one key from its parts, wherever they are in memory, with and without times", () => {
    const axisMemory = createScratchBuffer();
    const memory = createScratchBuffer();
    fc.assert(
      fc.property(anyBlockPoints, effort, fc.nat(8), (points, how, at) => {
        const block = encodeBlock(blockColumnsOf(points), { firstKey: 32, width: 16, effort: how });
        const timed = points.some((one) => one.timestampUs !== null);
        for (let slot = 0; slot < 16; slot++) {
          const own = pointsWith(points, 32 + slot);
          const parts = partsOf(block, slot, at);
          const series = openBlock(parts)(parts.section);
          expect(bitsOf(series.steps)).toEqual(bitsOf(own.map(({ step }) => step)));
          expect(bitsOf(series.values)).toEqual(bitsOf(own.map(({ values }) => values.get(32 + slot)!)));
          expect([...series.receivedUs]).toEqual(own.map(({ receivedUs }) => receivedUs));
          expect([...series.timestampsUs]).toEqual(timed ? own.map(({ timestampUs }) => timestampUs ?? NaN) : []);
          axisMemory.reuse();
          const readKey = openBlock(parts, axisMemory);
          // Any number of keys of a block, one after another.
          for (let again = 0; again < 2; again++) {
            memory.reuse();
            expect(readKey(parts.section, memory)).toEqual(series);
          }
          expect(openBlock({ ...parts, times: null })(parts.section)).toEqual({
            ...series,
            receivedUs: new Float64Array(0),
            timestampsUs: new Float64Array(0),
          });
        }
      }),
    );
  });

  test("leaves out client times that no point has", () => {
    const columns = { ...blockColumnsOf([point(1, 1), point(2, 2)]), timestampsUs: Float64Array.of(NaN, NaN) };
    const { data } = encodeBlock(columns, { firstKey: 0, width: 16, effort: "fast" });
    expect(decodeBlock(data).timestampsUs).toHaveLength(0);
  });

  const options = { firstKey: 16, width: 16, effort: "fast" as const };
  test.each<[string, BlockPoint[]]>([
    ["without points", []],
    ["with a key before the key range", [point(0, 1, 15)]],
    ["with a key behind the key range", [point(0, 1, 32)]],
    ["of more than 65,536 points", Array.from({ length: 65_537 }, (_, i) => point(i, 1, 16))],
  ])("%s cannot be encoded", (_, points) => {
    expect(() => encodeBlock(blockColumnsOf(points), options)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test("of columns that do not fit together cannot be encoded", () => {
    const columns = { ...blockColumnsOf([point(0, 1, 16)]), receivedUs: new Float64Array(2) };
    expect(() => encodeBlock(columns, options)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test("of 65,536 points of one key can", () => {
    const columns = blockColumnsOf(Array.from({ length: 65_536 }, (_, i) => point(i, Math.sqrt(i), 16)));
    const decoded = decodeBlock(encodeBlock(columns, options).data);
    expect(Buffer.from(decoded.values.buffer).equals(Buffer.from(columns.values.buffer))).toBe(true);
    expect(decoded.steps.at(-1)).toBe(65_535);
    const memory = createScratchBuffer();
    for (let round = 0; round < 2; round++) {
      memory.reuse();
      const parts = partsOf(encodeBlock(columns, options), 0);
      const series = openBlock(parts, memory)(parts.section, memory);
      expect([series.values[65_535], series.steps[65_535]]).toEqual([Math.sqrt(65_535), 65_535]);
    }
  });
});
