import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { anyBlockPoints, blockColumnsOf } from "../columns/block-columns.fixture.ts";
import { checkBlockColumns } from "../columns/block-columns.ts";
import { BLOCK_HEADER_BYTES } from "./block-layout.ts";
import { isCodecError } from "../../bytes.ts";
import { decodeBlock, openBlock, type BlockAxis } from "./decode-block.ts";
import { encodeBlock } from "./encode-block.ts";

/** Returns whether this succeeds; fails the test if it throws anything but a CodecError. */
function succeeds(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (!isCodecError(error)) throw error;
    return false;
  }
}

/** Returns whether the block can be read; checks that what is read fits together. */
function isReadable(data: Uint8Array): boolean {
  return succeeds(() => checkBlockColumns(decodeBlock(data)));
}

/** Returns whether one key can be read from the parts; checks that there is one step, value and time per point. */
function isKeyReadable(parts: BlockAxis & { readonly section: Uint8Array }): boolean {
  return succeeds(() => {
    const { steps, values, receivedUs, timestampsUs } = openBlock(parts)(parts.section);
    expect(steps).toHaveLength(values.length);
    expect([0, values.length]).toContain(receivedUs.length);
    expect([0, values.length]).toContain(timestampsUs.length);
  });
}

const options = { firstKey: 32, width: 16, effort: "best" as const };
const anyBlock = anyBlockPoints.map((points) => encodeBlock(blockColumnsOf(points), options));
const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const u32 = fc.oneof(fc.nat(9), fc.constantFrom(0xffff_ffff, 0x8000_0000, 0x1_0000), fc.nat());

/** Key 32 at all of four points and key 33 at the last only; the numbers are decimals and a constant. */
const sampleBlock = encodeBlock(
  blockColumnsOf(
    [1, 2, 4, 9].map((step) => ({
      step,
      receivedUs: 1_767_000_000_000_000,
      timestampUs: null,
      values: new Map(
        step === 9
          ? [
              [32, step],
              [33, 0.1],
            ]
          : [[32, step]],
      ),
    })),
  ),
  options,
);
const sample = sampleBlock.data;
const { stepsEnd, axisEnd } = sampleBlock;
const sectionsAt = axisEnd + 8 * 16;
const view = new DataView(sample.buffer);
const secondAt = view.getUint32(axisEnd + 8, true);

/** Returns the sample with some bytes replaced. */
function damaged(...changes: [at: number, byte: number][]): Uint8Array {
  const block = Uint8Array.from(sample);
  for (const [at, byte] of changes) block[at] = byte;
  return block;
}

describe("reading what is not a metric block", () => {
  test("the undamaged sample is readable, its sections where they are said to be", () => {
    expect(isReadable(sample)).toBe(true);
    expect(view.getUint32(axisEnd, true)).toBe(sectionsAt);
    expect(secondAt + view.getUint32(axisEnd + 12, true)).toBe(sample.length);
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "empty"],
    ["a version byte alone", Uint8Array.of(1), "cut short"],
    ["version 0", damaged([0, 0]), "unknown version"],
    ["a version of the future", damaged([0, 2]), "unknown version"],
    ["a flag of the future", damaged([1, 1]), "unknown version"],
    ["a key range beyond 32 bits", damaged([4, 0xff], [5, 0xff], [6, 0xff], [7, 0xff]), "contradicts itself"],
    ["a key range that is too wide", damaged([10, 2]), "contradicts itself"],
    ["too many points", damaged([14, 2], [18, 2]), "contradicts itself"],
    ["too many values", damaged([19, 1]), "contradicts itself"],
    ["fewer values than points", damaged([16, 3]), "contradicts itself"],
    ["more values than slots have points", damaged([16, 65]), "contradicts itself"],
    ["steps that end before they start", damaged([20, 32]), "contradicts itself"],
    ["an axis that ends before its steps", damaged([24, stepsEnd]), "contradicts itself"],
    ["a directory that does not fit", damaged([28, axisEnd], [29, 0]), "contradicts itself"],
    ["a block without its last byte", sample.subarray(0, -1), "another size"],
    ["a block with a byte behind it", Uint8Array.of(...sample, 0), "another size"],
    ["an unknown codec", damaged([sectionsAt, 8]), "unknown number codec"],
    ["impossible decimals", damaged([BLOCK_HEADER_BYTES + 2, 16]), "impossible decimals"],
    ["bits of an impossible width", damaged([sectionsAt, 5], [sectionsAt + 1, 33]), "impossible bits"],
    ["too few steps", damaged([BLOCK_HEADER_BYTES, 1], [BLOCK_HEADER_BYTES + 4, 2]), "too long"],
    ["too many steps", damaged([BLOCK_HEADER_BYTES + 4, 5]), "too many numbers"],
    ["too few values of a key at all points", damaged([sectionsAt + 4, 2]), "wrong number of values"],
    ["a presence code of the future", damaged([secondAt + 3, 34]), "unknown presence code"],
    ["more values than a section has bytes for", damaged([16, 6], [secondAt + 4, 2]), "cut short"],
    ["a point index behind the last point", damaged([secondAt + 16, 4]), "out of range"],
    ["points no distance apart", damaged([secondAt + 20, 0]), "out of range"],
    ["a section somewhere else", damaged([axisEnd, 0]), "do not follow"],
    ["a section that is too long", damaged([axisEnd + 13, 1]), "do not follow"],
    ["a section that is left out", damaged([axisEnd + 12, 0]), "fewer values"],
  ])("%s is refused by name", (_, block, text) => {
    expect(() => decodeBlock(block)).toThrow(
      expect.objectContaining({ name: "CodecError", message: expect.stringContaining(text) }),
    );
  });

  test("random bytes are never read beyond their end and throw nothing else", () => {
    fc.assert(
      fc.property(bytes(200), (block) => void isReadable(block)),
      { numRuns: 1_000 },
    );
    const headed = fc.tuple(fc.array(u32, { minLength: 7, maxLength: 7 }), bytes(400)).map(([numbers, rest]) => {
      const block = new Uint8Array(BLOCK_HEADER_BYTES + 8 * (rest.length >> 3));
      block[0] = 1;
      numbers.forEach((number, i) => new DataView(block.buffer).setUint32(4 + 4 * i, number, true));
      block.set(rest.subarray(0, block.length - BLOCK_HEADER_BYTES), BLOCK_HEADER_BYTES);
      return block;
    });
    fc.assert(
      fc.property(headed, (block) => void isReadable(block)),
      { numRuns: 1_000 },
    );
  });

  test("a section of random numbers is read or refused, and nothing else happens", () => {
    const steps = sample.subarray(0, stepsEnd);
    const times = sample.subarray(stepsEnd, axisEnd);
    const section = fc
      .tuple(fc.nat(8), fc.nat(34), fc.nat(), fc.nat(34), u32, bytes(120))
      .map(([codec, width, parameter, presence, count, rest]) => {
        const part = new Uint8Array(8 + rest.length);
        part.set([codec, width, parameter, presence]);
        new DataView(part.buffer).setUint32(4, count, true);
        part.set(rest, 8);
        return part;
      });
    fc.assert(
      fc.property(section, (part) => void isKeyReadable({ steps, times, section: part })),
      { numRuns: 1_500 },
    );
  });

  test("a block that lost or gained bytes at its end is refused", () => {
    fc.assert(
      fc.property(anyBlock, fc.nat(), bytes(20), ({ data }, cut, more) => {
        expect(isReadable(data.subarray(0, cut % data.length))).toBe(false);
        expect(isReadable(Uint8Array.of(...data, 0, ...more))).toBe(false);
      }),
    );
  });

  test("a block with damaged bytes is read or refused, and nothing else happens", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyBlock, damage, ({ data, stepsEnd: end, axisEnd: axis }, changes) => {
        for (const [at, byte] of changes) data[at % data.length] = byte;
        isReadable(data);
        for (let slot = 0; slot < 16; slot++) {
          const directory = new DataView(data.buffer, axis + 8 * slot, 8);
          const from = directory.getUint32(0, true);
          const section = data.subarray(from, from + directory.getUint32(4, true));
          isKeyReadable({ steps: data.subarray(0, end), times: data.subarray(end, axis), section });
        }
      }),
      { numRuns: 400 },
    );
  });

  test("parts of another size than the block has are refused", () => {
    const parts = { steps: sample.subarray(0, stepsEnd), times: null, section: sample.subarray(secondAt) };
    expect(isKeyReadable(parts)).toBe(true);
    expect(isKeyReadable({ ...parts, steps: sample.subarray(0, stepsEnd - 8) })).toBe(false);
    expect(isKeyReadable({ ...parts, steps: sample.subarray(0, axisEnd) })).toBe(false);
    expect(isKeyReadable({ ...parts, times: sample.subarray(stepsEnd, axisEnd - 8) })).toBe(false);
    expect(isKeyReadable({ ...parts, section: sample.subarray(sectionsAt) })).toBe(false);
    expect(isKeyReadable({ ...parts, section: sample.subarray(secondAt, -4) })).toBe(false);
  });
});
