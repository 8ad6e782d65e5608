import { describe, expect, test } from "@jest/globals";

import { blockColumnsOf, inBits } from "../columns/block-columns.fixture.ts";
import { noise } from "../columns/metric-columns.fixture.ts";
import { decodeBlock } from "./decode-block.ts";
import { encodeBlock } from "./encode-block.ts";

describe("a metric block", () => {
  test("has exactly these bytes, so that stored blocks stay readable", () => {
    const second = new Map([
      [1, 0.25],
      [3, -2],
      [4, 3],
    ]);
    const columns = blockColumnsOf(
      Array.from({ length: 8 }, (_, i) => ({
        step: i,
        receivedUs: 1_767_000_000_000_000,
        timestampUs: i === 2 ? 1_766_999_999_999_995 : null,
        values: new Map(
          second.has(i)
            ? [
                [16, 1],
                [18, second.get(i)!],
              ]
            : [[16, 1]],
        ),
      })),
    );
    const block = encodeBlock(columns, { firstKey: 16, width: 16, effort: "best" });
    const hex = [
      "0100000010000000 1000000008000000 0b00000038000000 6000000020010000",
      // Steps, received times, client times.
      "0203000008000000 0000000000000000 88c6fa0000000000",
      "0100000008000000 00c045fd4e1c1943",
      "0000000101000000 ecbf45fd4e1c1943 0200000001000000",
      "e000000010000000 0000000000000000 f000000030000000" + " 0000000000000000".repeat(13),
      // Key 16, then key 18 with its points.
      "0100000008000000 000000000000f03f",
      "0000000203000000 000000000000d03f 00000000000000c0 0000000000000840",
      "0100000001000000 0100000000000000",
    ]
      .join("")
      .replaceAll(" ", "");
    expect(Buffer.from(block.data).toString("hex")).toBe(hex);
    expect(block).toMatchObject({ stepsEnd: 56, axisEnd: 96 });
    const absent = Array<number>(9).fill(0);
    const statistics = [[8, 0, 1, 7, 1, 1, 0, 1, 0], absent, [3, 1, 0.25, 4, 3, -2, 3, 3, 4]];
    expect([...new Float64Array(block.statistics!.buffer)]).toEqual(statistics.flat());
    expect(inBits(decodeBlock(Buffer.from(hex, "hex")))).toEqual(inBits(columns));
  });

  const start = 1_767_000_000_000_000;
  test.each<[string, "fast" | "best", number, (i: number) => number]>([
    ["noisy doubles", "fast", 8.1, (i) => 0.3 + noise(i)],
    ["noisy doubles", "best", 7.2, (i) => 0.3 + noise(i)],
    ["noisy numbers of single precision", "fast", 3.7, (i) => Math.fround(0.3 + noise(i))],
    ["integers below 1,000", "fast", 1.4, (i) => Math.floor(1_000 * noise(i))],
    ["losses with four digits", "fast", 1.9, (i) => Math.round(10_000 * (0.3 + noise(i))) / 10_000],
    ["multiples of 1/937", "best", 1.2, (i) => Math.floor(100 * noise(i)) / 937],
    ["a constant", "fast", 0.05, () => 3e-4],
  ])(
    "of 4 keys and 4,096 points takes little memory for %s, with %s effort at most %d bytes per value",
    (_, how, most, of) => {
      const columns = {
        ...blockColumnsOf([]),
        keyIds: Uint32Array.of(0, 1, 2, 3),
        steps: Float64Array.from({ length: 4_096 }, (__, i) => i),
        receivedUs: Float64Array.from(
          { length: 4_096 },
          (__, i) => start + Math.floor(i / 500) * 1_234_567 + Math.floor(i / 500) ** 3,
        ),
        values: Float64Array.from({ length: 4 * 4_096 }, (__, i) => of(i)),
      };
      const { data, statistics, sums } = encodeBlock(columns, { firstKey: 0, width: 16, effort: how });
      expect((data.length + statistics!.length + sums!.length) / columns.values.length).toBeLessThanOrEqual(most);
      expect(inBits(decodeBlock(data))).toEqual(inBits(columns));
    },
  );
});
