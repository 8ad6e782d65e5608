import { crc32 } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { isCodecError } from "../bytes.ts";
import { decodeLogBlock, encodeLogBlock } from "./log-block.ts";
import { anyLines, columnsOf, plainBlockOf } from "./log-columns.fixture.ts";

/** Returns whether the block can be read; fails the test if reading throws anything but the codec's own error. */
function isReadable(block: Uint8Array): boolean {
  try {
    decodeLogBlock(block);
    return true;
  } catch (error) {
    if (!isCodecError(error)) throw error;
    return false;
  }
}

/** Returns the block with a correct checksum, so that the checks behind it are tested too. */
function resealed(block: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(block);
  new DataView(copy.buffer).setUint32(2, crc32(copy.subarray(6), crc32(copy.subarray(0, 2))), true);
  return copy;
}

const sample = encodeLogBlock(
  columnsOf([
    { lineNumber: 1, id: 64, createdUs: 5, sent: { seconds: 1, micros: 2 }, message: "abc" },
    { lineNumber: 2, id: 65, createdUs: 5, sent: null, message: "de" },
  ]),
  { compressFrom: Infinity },
);
const damaged = (at: number, byte: number): Uint8Array => {
  const copy = Uint8Array.from(sample);
  copy[at] = byte;
  return copy;
};
const options = fc.constantFrom({ compressFrom: 0 }, { compressFrom: Infinity });

describe("reading bytes that are not a log block", () => {
  test("the undamaged sample is readable", () => {
    expect(isReadable(sample)).toBe(true);
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "empty"],
    ["a version byte alone", Uint8Array.of(1), "cut short"],
    ["a header alone", sample.subarray(0, 6), "cut short"],
    ["version 0", damaged(0, 0), "unknown version"],
    ["a version of the future", damaged(0, 3), "unknown version"],
    ["a codec of the future", resealed(damaged(1, 4)), "unknown codec"],
    ["another codec byte", damaged(1, 1), "damaged"],
    ["numbers that are not compressed as they say", resealed(damaged(1, 1)), "cannot be decompressed"],
    ["a block without its last byte", sample.subarray(0, -1), "damaged"],
    ["a block with a byte behind it", Uint8Array.of(...sample, 0), "damaged"],
    ["a changed letter", damaged(sample.length - 1, 0x41), "damaged"],
    ["a size that is not the numbers'", resealed(damaged(6, 1)), "another size"],
    ["a size that is not the texts'", resealed(damaged(7, 9)), "another size"],
    ["more lines than the bytes can hold", resealed(damaged(9, 100)), "cut short"],
  ])("%s is refused by name", (_, block, text) => {
    expect(() => decodeLogBlock(block)).toThrow(
      expect.objectContaining({ name: "CodecError", message: expect.stringContaining(text) }),
    );
  });

  test("a block is refused when any bit of it is turned, or its end is missing, or more follows", () => {
    fc.assert(
      fc.property(anyLines, options, fc.nat(), fc.nat(7), fc.nat(), (lines, option, at, bit, cut) => {
        const block = encodeLogBlock(columnsOf(lines), option);
        const turned = Uint8Array.from(block);
        turned[at % block.length]! ^= 1 << bit;
        expect(isReadable(turned)).toBe(false);
        expect(isReadable(block.subarray(0, cut % block.length))).toBe(false);
        expect(isReadable(Uint8Array.of(...block, at & 0xff))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("damage behind a checksum that fits is read or refused, and nothing else happens", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(anyLines, options, damage, (lines, option, changes) => {
        const block = Uint8Array.from(encodeLogBlock(columnsOf(lines), option));
        for (const [at, byte] of changes) block[at % block.length] = byte;
        isReadable(resealed(block));
      }),
      { numRuns: 3_000 },
    );
  });

  test("random bytes, plain or not, are never read beyond their end and throw nothing else", () => {
    const bytes = fc.uint8Array({ minLength: 6, maxLength: 300 });
    fc.assert(
      fc.property(bytes, fc.constantFrom(1, 2), fc.nat(3), (rest, version, codec) => {
        const block = Uint8Array.from(rest);
        block[0] = version;
        if (version === 1) block[1] = codec;
        isReadable(version === 1 ? resealed(block) : block);
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(anyLines, fc.nat(), fc.nat(255), (lines, at, byte) => {
        const block = Uint8Array.from(plainBlockOf(lines));
        block[at % block.length] = byte;
        isReadable(block);
      }),
      { numRuns: 1_000 },
    );
  });
});
