import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { anyBits, anyKey, anyPoints, bitsOf, columnsOf, idsFrom } from "../columns/metric-columns.fixture.ts";
import type { MetricColumns } from "../columns/metric-columns.ts";
import { decodeSegmentKey, decodeSegment, type SegmentColumns } from "./decode-segment.ts";
import { encodeSegment } from "./encode-segment.ts";
import { sortKeys } from "../columns/keys.ts";

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

function expectSameBits(actual: SegmentColumns, expected: MetricColumns) {
  expect(actual.keyIds).toHaveLength(expected.keys.length);
  expect(bitsOf(actual.steps)).toEqual(bitsOf(expected.steps));
  expect(bitsOf(actual.values)).toEqual(bitsOf(expected.values));
  expect(actual.timestampsUs).toEqual(expected.timestampsUs);
  expect(actual.offsets).toEqual(expected.offsets);
  expect(actual.pointIndexes).toEqual(expected.pointIndexes);
}

const start = 1_767_000_000_000_000;

type Encode = (columns: MetricColumns) => Uint8Array<ArrayBuffer>;

describe.each<[string, Encode]>([
  ["consecutive ids", (columns) => encodeSegment(columns, idsFrom(columns, 5, 1))],
  ["ids in any order", (columns) => encodeSegment(columns, idsFrom(columns, 900, -7))],
])("a segment with %s", (_name, encode) => {
  /** The id that `encode` gave to a key, or one that no key has. */
  const idOf = (segment: Uint8Array, columns: MetricColumns, key: string): number =>
    decodeSegment(segment).keyIds[columns.keys.indexOf(key)] ?? 77_777;

  test("restores any batch", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const columns = columnsOf(points);
        expectSameBits(decodeSegment(encode(columns)), columns);
      }),
    );
  });

  test("restores steps and values of any bit pattern", () => {
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
        expectSameBits(decodeSegment(encode(columns)), columns);
      }),
    );
  });

  test("returns one key as the whole batch has it, and null for a key that it does not have", () => {
    fc.assert(
      fc.property(anyPoints, anyKey, (points, other) => {
        const columns = columnsOf(points);
        const segment = encode(columns);
        const keys = new Set(points.flatMap((point) => Object.keys(point.metrics)));
        for (const key of keys.add(other)) {
          const own = points.filter((point) => key in point.metrics);
          const series = decodeSegmentKey(segment, idOf(segment, columns, key));
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

  test.each<[string, MetricColumns, number]>([
    ["no points", { ...withSteps([]), keys: [] }, 24],
    ["one point", withSteps([7]), 24 + 8 + 8],
    ["500 steps one apart take 16 bytes", withSteps(Array.from({ length: 500 }, (_, i) => i)), 24 + 16 + 4_000],
    ["500 equal steps take 16 bytes", withSteps(Array.from({ length: 500 }, () => 0.1)), 24 + 16 + 4_000],
    ["500 steps 0.25 apart take 16 bytes", withSteps(Array.from({ length: 500 }, (_, i) => i / 4)), 24 + 16 + 4_000],
    ["steps that go back are kept each", withSteps([5, 4, 9]), 24 + 24 + 24],
    ["steps that a stride would round are kept each", withSteps([0.1, 0.2, 0.3]), 24 + 24 + 24],
    ["a step of -0 is kept", withSteps([-0, 0, 0]), 24 + 24 + 24],
    ["times of one hour take 4 bytes each", withSteps([1, 2, 3], [start, start + 3.6e9, NaN]), 24 + 16 + 8 + 16 + 24],
    ["times of two hours are kept each", withSteps([1, 2, 3], [start, start + 7.2e9, start]), 24 + 16 + 24 + 24],
    ["times of one point", withSteps([1], [start]), 24 + 8 + 8 + 8],
    ["times with parts of a microsecond are kept each", withSteps([1, 2, 3], [0.5, 1, 2]), 24 + 16 + 24 + 24],
    ["a time of -0 is kept", withSteps([1, 2, 3], [0, -0, 0]), 24 + 16 + 24 + 24],
    ["an infinite time is kept", withSteps([1, 2, 3], [Infinity, NaN, Infinity]), 24 + 16 + 24 + 24],
    ["the longest distance between two times", withSteps([1, 2, 3], [0, 0xffff_fffe, 1]), 24 + 16 + 24 + 24],
    ["a distance that would look like no time", withSteps([1, 2, 3], [0, 0xffff_ffff, 1]), 24 + 16 + 24 + 24],
  ])("%s", (_, columns, size) => {
    const segment = encode(columns);
    expect(segment).toHaveLength(size);
    const decoded = decodeSegment(segment);
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
    expect(encode(columnsOf(points(false))).length / 1_000).toBeLessThan(8.1);
    expect(encode(columnsOf(points(true))).length / 1_000).toBeLessThan(10.1);
  });

  test("times of none of the points are left out", () => {
    const decoded = decodeSegment(encode(withSteps([1, 2], [NaN, NaN])));
    expect(decoded.timestampsUs).toHaveLength(0);
  });

  test("columns that name every point of every key are read back dense", () => {
    const columns = { ...withSteps([1, 2]), offsets: Uint32Array.of(0, 2), pointIndexes: Uint32Array.of(0, 1) };
    expectSameBits(decodeSegment(encode(columns)), withSteps([1, 2]));
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
      const columns = columnsOf(batch as Parameters<typeof columnsOf>[0]);
      const segment = encode(columns);
      expect(sizeWithoutKeys(segment)).toBe(24 + 16 + 8 * (points + 1) + 4 + width);
      expect(decodeSegment(segment).pointIndexes.at(-1)).toBe(points - 1);
      expect(decodeSegmentKey(segment, idOf(segment, columns, "b"))).toEqual({
        steps: Float64Array.of(points - 1),
        values: Float64Array.of(2),
        timestampsUs: new Float64Array(0),
      });
    }
  });

  test("is read at any place of a larger buffer, and viewed where it is aligned", () => {
    const columns = columnsOf([{ metrics: { a: 1, b: 2 }, step: 1, timestampUs: 5 }]);
    const segment = encode(columns);
    for (let at = 0; at <= 8; at++) {
      const larger = new Uint8Array(segment.length + 16).fill(255);
      larger.set(segment, at);
      const decoded = decodeSegment(larger.subarray(at, at + segment.length));
      expectSameBits(decoded, columns);
      expect(decoded.values.buffer === larger.buffer).toBe(at % 8 === 0);
      expect([
        ...decodeSegmentKey(larger.subarray(at, at + segment.length), idOf(segment, columns, "b"))!.values,
      ]).toEqual([2]);
    }
  });

  test("columns that do not fit together cannot be encoded", () => {
    expect(() => encode({ ...withSteps([1, 2]), values: Float64Array.of(1) })).toThrow(
      expect.objectContaining({ name: "CodecError" }),
    );
  });
});

/** Returns the bytes of a segment without those that number its two keys and say whether they are sparse. */
function sizeWithoutKeys(segment: Uint8Array): number {
  const { keyIds } = decodeSegment(segment);
  return segment.length - (keyIds[0]! + 1 === keyIds[1] ? 0 : 8) - 2;
}
