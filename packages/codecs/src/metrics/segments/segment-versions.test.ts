import { describe, expect, test } from "@jest/globals";

import { columnsOf, idsFrom } from "../columns/metric-columns.fixture.ts";
import type { MetricColumns } from "../columns/metric-columns.ts";
import { decodeSegment } from "./decode-segment.ts";
import { encodeSegment } from "./encode-segment.ts";

const start = 1_767_000_000_000_000;

/** Dense columns of these keys at one point. */
function withKeys(...keys: string[]): MetricColumns {
  const metrics = Object.fromEntries(keys.map((key, i) => [key, i]));
  return { ...columnsOf([{ metrics, step: 1, timestampUs: null }]), keys };
}

describe("a segment", () => {
  test("has exactly these bytes, dense with consecutive ids and sparse with others", () => {
    const dense = columnsOf([0, 2, 4].map((step) => ({ metrics: { b: step / 2, a: -1 }, step, timestampUs: null })));
    expect(Buffer.from(encodeSegment(dense, Uint32Array.of(7, 8))).toString("hex")).toBe(
      [
        "01010000" + "03000000" + "02000000" + "00000000" + "06000000" + "07000000",
        "0000000000000000" + "0000000000000040",
        "000000000000f0bf".repeat(3),
        "0000000000000000" + "000000000000f03f" + "0000000000000040",
      ].join(""),
    );
    const sparse = columnsOf([
      { metrics: { b: 1 }, step: 5, timestampUs: start },
      { metrics: { b: 1, é: 2 }, step: 3, timestampUs: null },
      { metrics: { b: 1 }, step: 3, timestampUs: start + 258 },
    ]);
    expect(Buffer.from(encodeSegment(sparse, Uint32Array.of(1, 0))).toString("hex")).toBe(
      [
        "01000202" + "03000000" + "02000000" + "01000000" + "04000000" + "ffffffff",
        "0000000000001440" + "0000000000000840" + "0000000000000840",
        "00c045fd4e1c1943" + "00000000" + "ffffffff" + "02010000" + "00000000",
        "000000000000f03f".repeat(3) + "0000000000000040",
        "01000000",
        "01000000" + "00000000",
        "0100",
        "0001",
      ].join(""),
    );
  });

  test("takes 8 bytes per value of one step of 1,000 keys whose ids are consecutive, 12 when they are not", () => {
    const metrics = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`layer/${i}/norm`, i]));
    const columns = columnsOf([{ metrics, step: 1, timestampUs: null }]);
    expect(encodeSegment(columns, idsFrom(columns, 4_000, 1))).toHaveLength(24 + 8 + 8_000);
    expect(encodeSegment(columns, idsFrom(columns, 4_000, 2))).toHaveLength(24 + 8 + 12_000);
  });

  test("keeps ids of all 32 bits", () => {
    const columns = columnsOf([{ metrics: { a: 1, b: 2 }, step: 1, timestampUs: null }]);
    for (const ids of [
      Uint32Array.of(0xffff_fffe, 0xffff_ffff),
      Uint32Array.of(0xffff_fffd, 0xffff_fffe),
      Uint32Array.of(0, 0),
    ])
      expect(decodeSegment(encodeSegment(columns, ids)).keyIds).toEqual(ids);
  });

  test("needs one id per key", () => {
    expect(() => encodeSegment(withKeys("loss"), Uint32Array.of(1, 2))).toThrow(
      expect.objectContaining({ name: "CodecError" }),
    );
  });
});
