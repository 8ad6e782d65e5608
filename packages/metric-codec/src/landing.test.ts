import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { anyBits, anyKey, anyPoints, bitsOf, columnsOf } from "./columns.fixture.ts";
import type { MetricColumns } from "./columns.ts";
import { decodeLanding, decodeLandingKey } from "./decode-landing.ts";
import { encodeLanding } from "./encode-landing.ts";
import { sortKeys } from "./key-order.ts";

const none = { offsets: new Uint32Array(0), pointIndexes: new Uint32Array(0), timestampsUs: new Float64Array(0) };

/** Dense columns of one key with these steps. */
function withSteps(steps: number[], timestampsUs: number[] = []): MetricColumns {
  return {
    ...none,
    keys: ["loss"],
    steps: Float64Array.from(steps),
    timestampsUs: Float64Array.from(timestampsUs),
    values: new Float64Array(steps.length).fill(1),
  };
}

function expectSameBits(actual: MetricColumns, expected: MetricColumns) {
  expect(actual.keys).toEqual(expected.keys);
  expect(bitsOf(actual.steps)).toEqual(bitsOf(expected.steps));
  expect(bitsOf(actual.values)).toEqual(bitsOf(expected.values));
  expect(actual.timestampsUs).toEqual(expected.timestampsUs);
  expect(actual.offsets).toEqual(expected.offsets);
  expect(actual.pointIndexes).toEqual(expected.pointIndexes);
}

const start = 1_767_000_000_000_000;

describe("a landing block", () => {
  test("gives any batch back", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const columns = columnsOf(points);
        expectSameBits(decodeLanding(encodeLanding(columns)), columns);
      }),
    );
  });

  test("gives steps and values of any bit pattern back", () => {
    const batch = fc
      .record({ keys: fc.uniqueArray(anyKey, { minLength: 1, maxLength: 4 }), points: fc.integer({ min: 1, max: 8 }) })
      .chain(({ keys, points }) =>
        fc.record({
          keys: fc.constant(sortKeys(keys)),
          steps: fc.array(anyBits, { minLength: points, maxLength: points }),
          values: fc.array(anyBits, { minLength: points * keys.length, maxLength: points * keys.length }),
        }),
      );
    fc.assert(
      fc.property(batch, ({ keys, steps, values }) => {
        const columns = { ...none, keys, steps: Float64Array.from(steps), values: Float64Array.from(values) };
        expectSameBits(decodeLanding(encodeLanding(columns)), columns);
      }),
    );
  });

  test("gives one key back as the whole batch has it, and null for a key that it has not", () => {
    fc.assert(
      fc.property(anyPoints, anyKey, (points, other) => {
        const block = encodeLanding(columnsOf(points));
        const keys = new Set(points.flatMap((point) => Object.keys(point.metrics)));
        for (const key of keys.add(other)) {
          const own = points.filter((point) => key in point.metrics);
          const series = decodeLandingKey(block, key);
          if (own.length === 0) expect(series).toBeNull();
          else {
            expect([...series!.steps]).toEqual(own.map((point) => point.step));
            expect([...series!.values]).toEqual(own.map((point) => point.metrics[key]));
            const times = own.map((point) => point.timestampUs ?? NaN);
            const timed = points.some((point) => point.timestampUs !== null);
            expect([...series!.timestampsUs]).toEqual(timed ? times : []);
          }
        }
      }),
    );
  });

  test("has exactly the bytes of version 1, dense and sparse, so that stored blocks stay readable", () => {
    const dense = columnsOf([0, 2, 4].map((step) => ({ metrics: { b: step / 2, a: -1 }, step, timestampUs: null })));
    expect(Buffer.from(encodeLanding(dense)).toString("hex")).toBe(
      [
        "01010000" + "03000000" + "02000000" + "00000000" + "06000000" + "02000000",
        "0000000000000000" + "0000000000000040",
        "000000000000f0bf".repeat(3),
        "0000000000000000" + "000000000000f03f" + "0000000000000040",
        "01000000" + "01000000",
        "6162",
      ].join(""),
    );
    const sparse = columnsOf([
      { metrics: { b: 1 }, step: 5, timestampUs: start },
      { metrics: { b: 1, é: 2 }, step: 3, timestampUs: null },
      { metrics: { b: 1 }, step: 3, timestampUs: start + 258 },
    ]);
    expect(Buffer.from(encodeLanding(sparse)).toString("hex")).toBe(
      [
        "01000202" + "03000000" + "02000000" + "01000000" + "04000000" + "03000000",
        "0000000000001440" + "0000000000000840" + "0000000000000840",
        "00c045fd4e1c1943" + "00000000" + "ffffffff" + "02010000" + "00000000",
        "000000000000f03f".repeat(3) + "0000000000000040",
        "01000000",
        "01000000" + "02000100",
        "0100",
        "62c3a9",
      ].join(""),
    );
  });

  test.each<[string, MetricColumns, number]>([
    ["no points", { ...withSteps([]), keys: [] }, 24],
    ["one point", withSteps([7]), 24 + 8 + 8 + 4 + 4],
    ["500 steps one apart take 16 bytes", withSteps(Array.from({ length: 500 }, (_, i) => i)), 24 + 16 + 4_000 + 8],
    ["500 equal steps take 16 bytes", withSteps(Array.from({ length: 500 }, () => 0.1)), 24 + 16 + 4_000 + 8],
    [
      "500 steps 0.25 apart take 16 bytes",
      withSteps(Array.from({ length: 500 }, (_, i) => i / 4)),
      24 + 16 + 4_000 + 8,
    ],
    ["steps that go back are kept each", withSteps([5, 4, 9]), 24 + 24 + 24 + 8],
    ["steps that a stride would round are kept each", withSteps([0.1, 0.2, 0.3]), 24 + 24 + 24 + 8],
    ["a step of -0 is kept", withSteps([-0, 0, 0]), 24 + 24 + 24 + 8],
    [
      "times of one hour take 4 bytes each",
      withSteps([1, 2, 3], [start, start + 3.6e9, NaN]),
      24 + 16 + 8 + 16 + 24 + 8,
    ],
    ["times of two hours are kept each", withSteps([1, 2, 3], [start, start + 7.2e9, start]), 24 + 16 + 24 + 24 + 8],
    ["times of one point", withSteps([1], [start]), 24 + 8 + 8 + 8 + 8],
    ["times with parts of a microsecond are kept each", withSteps([1, 2, 3], [0.5, 1, 2]), 24 + 16 + 24 + 24 + 8],
    ["a time of -0 is kept", withSteps([1, 2, 3], [0, -0, 0]), 24 + 16 + 24 + 24 + 8],
    ["an infinite time is kept", withSteps([1, 2, 3], [Infinity, NaN, Infinity]), 24 + 16 + 24 + 24 + 8],
    ["the longest distance between two times", withSteps([1, 2, 3], [0, 0xffff_fffe, 1]), 24 + 16 + 24 + 24 + 8],
    ["a distance that would look like no time", withSteps([1, 2, 3], [0, 0xffff_ffff, 1]), 24 + 16 + 24 + 24 + 8],
  ])("%s", (_, columns, size) => {
    const block = encodeLanding(columns);
    expect(block).toHaveLength(size);
    const decoded = decodeLanding(block);
    expectSameBits(decoded, columns);
    expect(bitsOf(decoded.timestampsUs)).toEqual(bitsOf(columns.timestampsUs));
  });

  test("a dense batch of 500 points and 2 keys takes about 8 bytes per value, 10 with times", () => {
    const points = (timed: boolean) =>
      Array.from({ length: 500 }, (_, i) => ({
        metrics: { "train/loss": 1 / (i + 1), "train/acc": i / 500 },
        step: i,
        timestampUs: timed ? start + i * 123_457 : null,
      }));
    expect(encodeLanding(columnsOf(points(false))).length / 1_000).toBeLessThan(8.1);
    expect(encodeLanding(columnsOf(points(true))).length / 1_000).toBeLessThan(10.1);
  });

  test("times of none of the points are left out", () => {
    const decoded = decodeLanding(encodeLanding(withSteps([1, 2], [NaN, NaN])));
    expect(decoded.timestampsUs).toHaveLength(0);
  });

  test("columns that name every point of every key come back dense", () => {
    const columns = { ...withSteps([1, 2]), offsets: Uint32Array.of(0, 2), pointIndexes: Uint32Array.of(0, 1) };
    expectSameBits(decodeLanding(encodeLanding(columns)), withSteps([1, 2]));
  });

  test("more than 65,536 points need and get wider point indexes", () => {
    for (const [points, width] of [
      [65_536, 2],
      [65_537, 4],
    ] as const) {
      const batch = Array.from({ length: points }, (_, i) => ({
        metrics: i === points - 1 ? { a: 1, b: 2 } : { a: 1 },
        step: i,
        timestampUs: null,
      }));
      const block = encodeLanding(columnsOf(batch as Parameters<typeof columnsOf>[0]));
      expect(block).toHaveLength(24 + 16 + 8 * (points + 1) + 4 + 8 + width + "ab".length);
      expect(decodeLanding(block).pointIndexes.at(-1)).toBe(points - 1);
      expect(decodeLandingKey(block, "b")).toEqual({
        steps: Float64Array.of(points - 1),
        values: Float64Array.of(2),
        timestampsUs: new Float64Array(0),
      });
    }
  });

  test("is read at any place of a larger buffer, and viewed where it is aligned", () => {
    const columns = columnsOf([{ metrics: { a: 1, b: 2 }, step: 1, timestampUs: 5 }]);
    const block = encodeLanding(columns);
    for (let at = 0; at <= 8; at++) {
      const larger = new Uint8Array(block.length + 16).fill(255);
      larger.set(block, at);
      const decoded = decodeLanding(larger.subarray(at, at + block.length));
      expectSameBits(decoded, columns);
      expect(decoded.values.buffer === larger.buffer).toBe(at % 8 === 0);
      expect([...decodeLandingKey(larger.subarray(at, at + block.length), "b")!.values]).toEqual([2]);
    }
  });

  test.each<[string, string]>([
    ["a key with a lone surrogate", "loss\ud800"],
    ["a key of more than 65,535 bytes", "x".repeat(65_536)],
    ["a key of more than 65,535 bytes that has fewer characters", "é".repeat(32_768)],
  ])("%s cannot be encoded", (_, key) => {
    expect(() => encodeLanding({ ...withSteps([1]), keys: [key] })).toThrow(
      expect.objectContaining({ name: "CodecError" }),
    );
  });

  test("a key of 65,535 bytes can", () => {
    const columns = { ...withSteps([1]), keys: ["x".repeat(65_535)] };
    expectSameBits(decodeLanding(encodeLanding(columns)), columns);
  });

  test("columns that do not fit together cannot be encoded", () => {
    expect(() => encodeLanding({ ...withSteps([1, 2]), values: Float64Array.of(1) })).toThrow(
      expect.objectContaining({ name: "CodecError" }),
    );
  });
});
