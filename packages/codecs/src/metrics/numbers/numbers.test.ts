import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { createByteReader, createByteWriter, expectEnd } from "./bytes.ts";
import { anyBits, bitsOf, noise } from "../columns/metric-columns.fixture.ts";
import {
  BITS,
  CONSTANT,
  DECIMAL_DIFFERENCES,
  DECIMAL_OFFSETS,
  DECIMAL_RUNS,
  DICTIONARY,
  RAW,
  SPLIT_BITS,
} from "./number-layout.ts";
import { numberBytesMax, readNumbers, writeNumbers, type Effort } from "./numbers.ts";

/** Returns the numbers as they are written; fails the test if they are not read back bit for bit, or take more bytes than the maximum. */
function written(numbers: readonly number[], effort: Effort): Uint8Array {
  const writer = createByteWriter(numberBytesMax(numbers.length));
  writeNumbers(writer, Float64Array.from(numbers), effort);
  const bytes = writer.u8.slice(0, writer.at);
  expect(bytes).toHaveLength(writer.at);
  const reader = createByteReader(bytes);
  expect(bitsOf(readNumbers(reader, numbers.length).numbers)).toEqual(bitsOf(numbers));
  expectEnd(reader);
  return bytes;
}

const range = (count: number, of: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => of(i));

const both: readonly Effort[] = ["fast", "best"];
const many = { minLength: 0, maxLength: 100 };

describe("numbers are read back bit for bit", () => {
  test.each<[string, fc.Arbitrary<number[]>]>([
    ["of any bit pattern", fc.array(anyBits, many)],
    ["any finite ones", fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), many)],
    ["any of single precision", fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), many)],
    ["integers", fc.array(fc.maxSafeInteger(), many)],
    ["small integers", fc.array(fc.integer({ min: -1000, max: 1000 }), many)],
    [
      "decimals",
      fc.tuple(fc.array(fc.integer(), many), fc.nat(17)).map(([all, digits]) => all.map((n) => n / 10 ** digits)),
    ],
    [
      "printed decimals",
      fc.array(
        fc.double({ min: -9, max: 9, noNaN: true }).map((n) => Number(n.toPrecision(5))),
        many,
      ),
    ],
    ["few different ones", fc.array(fc.constantFrom(-0, 0, 1 / 3, -5e-324, Number.MAX_VALUE, Math.PI, 1e300), many)],
    [
      "differences that repeat",
      fc.array(fc.constantFrom(1, 1, 1, -7), many).map((all) => {
        let sum = 2 ** 40;
        return all.map((difference) => (sum += difference));
      }),
    ],
    [
      "those whose bits are close together",
      fc.array(fc.nat(1000), many).map((all) => all.map((n) => 1 / 3 + n * 2 ** -54)),
    ],
    [
      "magnitudes of either sign",
      fc
        .array(fc.tuple(fc.nat(255), fc.boolean()), many)
        .map((all) => all.map(([n, minus]) => (minus ? -1 : 1) * 2 ** -40 * n)),
    ],
  ])("%s", (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (numbers) => {
        for (const effort of both) written(numbers, effort);
      }),
      { numRuns: 100 },
    );
  });
});

describe("numbers are written in the way that fits", () => {
  test.each<[string, number, number, number[]]>([
    ["none", RAW, 8, []],
    ["one", RAW, 16, [0.1]],
    ["three", RAW, 32, [1, 2, 3]],
    ["equal ones", CONSTANT, 16, range(4_096, () => 3e-4)],
    ["0 and -0", BITS, 8 + 8 + 64 / 8, range(64, (i) => (i % 3 === 0 ? -0 : 0))],
    ["integers of two bits", DECIMAL_OFFSETS, 8 + 8 + 64 / 4, range(64, (i) => 7 + (((i * i) % 13) % 4))],
    ["a counter", DECIMAL_DIFFERENCES, 8 + 16, range(4_096, (i) => 32 * i)],
    ["a counter with jumps", DECIMAL_RUNS, 8 + 24 + 16 + 8, range(600, (i) => i + 5_000 * Math.floor(i / 250))],
    ["decimals one step apart", DECIMAL_DIFFERENCES, 8 + 16, range(4_096, (i) => i / 1_000)],
    ["decimals that shrink", DECIMAL_OFFSETS, 8 + 8 + 64 / 4, range(64, (i) => (((i * i) % 13) % 4) / -100 + 5)],
    ["the greatest integers whose sums are exact", DECIMAL_DIFFERENCES, 8 + 16, range(5, (i) => 2 ** 51 * (2 - i))],
    ["single precision of both signs", BITS, 8 + 8 + (64 * 27) / 8, range(64, (i) => Math.fround(noise(i) * 2 - 1))],
  ])("%s", (_, codec, size, numbers) => {
    for (const effort of both) {
      const bytes = written(numbers, effort);
      expect([bytes[0], bytes.length]).toEqual([codec, size]);
    }
  });

  test.each<[string, number, number, number[]]>([
    ["greater integers", BITS, 8 + 8 + (64 * 6) / 8, range(64, (i) => 2 ** 53 + 2 * i)],
    ["full precision between 1 and 2", SPLIT_BITS, 8 + 8 + 64 * 4 + (64 * 20) / 8, range(64, (i) => 1 + noise(i))],
    [
      "shares of 937",
      DICTIONARY,
      8 + 8 + 31 * 8 + 8 + 8 + (1_024 * 5) / 8,
      range(1_024, (i) => Math.floor(31 * noise(i)) / 937),
    ],
    [
      "what drops now and then",
      DICTIONARY,
      8 + 8 + 3 * 8 + 8 + 24 + 8 + 8,
      range(900, (i) => Math.PI * 0.3 ** Math.floor(i / 300)),
    ],
  ])("%s, with best effort only", (_, codec, size, numbers) => {
    expect(written(numbers, "fast")[0]).toBe(RAW);
    const bytes = written(numbers, "best");
    expect([bytes[0], bytes.length]).toEqual([codec, size]);
  });

  test("numbers of full precision and any size stay raw, which takes no time to read", () => {
    const numbers = range(64, (i) => (noise(i) - 0.5) * 2 ** (20 * (i - 32)));
    for (const effort of both) expect(written(numbers, effort)[0]).toBe(RAW);
  });
});

describe("numbers have exactly these bytes, so that stored blocks stay readable", () => {
  test.each<[string, number[], string]>([
    ["raw", [1, 0.1], "0000000002000000 000000000000f03f 9a9999999999b93f"],
    ["constant", [2, 2, 2], "0100000003000000 0000000000000040"],
    ["decimal offsets", [0.5, 0.7, 0.6, 0.5], "0202010004000000 0000000000001440 1800000000000000"],
    ["decimal differences", range(80, (i) => i / 4), "0300020050000000 0000000000000000 0000000000003940"],
    [
      "decimal runs",
      range(80, (i) => (i < 40 ? i : 960 + i)),
      "040a000050000000 0000000000000000 000000000000f03f 0300000006000000 00000f0000000000 2660020000000000",
    ],
    [
      "bits with signs",
      [1.5, -1.25, 1.75, -0, 1.5, 1.5],
      "050db20006000000 0000000000000000 fc7ffffbff00c0ff f93f000000000000",
    ],
    [
      "split bits",
      range(8, (i) => 1 + i * 2 ** -16 + 2 ** -52),
      "0607000008000000 010000000000f03f" + " 0000000000000000".repeat(4) + " 000808068482e100",
    ],
    [
      "dictionary",
      [3, 3, 7, 3, 3, 7, 3, 3].map((n) => 1 / n),
      "0700000008000000 0200000000000000 555555555555d53f 922449922449c23f 0201000008000000 0000000000000000 2400000000000000",
    ],
  ])("%s", (_, numbers, hex) => {
    const bytes = Buffer.from(hex.replaceAll(" ", ""), "hex");
    expect(bitsOf(readNumbers(createByteReader(bytes), numbers.length).numbers)).toEqual(bitsOf(numbers));
    expect(Buffer.from(written(numbers, "best")).toString("hex")).toBe(bytes.toString("hex"));
  });
});
