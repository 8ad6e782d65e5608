import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";

import { isCodecError } from "../../bytes.ts";
import { anyPoints, columnsOf, idsFrom } from "../columns/metric-columns.fixture.ts";
import { checkColumnArrays, type MetricColumns } from "../columns/metric-columns.ts";
import { decodeSegmentKey, decodeSegment } from "./decode-segment.ts";
import { encodeSegment } from "./encode-segment.ts";
import { SEGMENT_HEADER_BYTES } from "./segment-layout.ts";

/** Returns whether the segment can be read; fails the test if reading throws anything but a CodecError or returns columns that do not fit together. */
function isReadable(bytes: Uint8Array): boolean {
  let readable = true;
  for (const read of [
    () => {
      const columns = decodeSegment(bytes);
      checkColumnArrays(columns, columns.keyIds.length);
    },
    () => decodeSegmentKey(bytes, 0),
    () => decodeSegmentKey(bytes, 7),
  ]) {
    try {
      read();
    } catch (error) {
      if (!isCodecError(error)) throw error;
      readable = false;
    }
  }
  return readable;
}

/** Writes a batch with consecutive ids or listed ones. */
const anyEncoder = fc.constantFrom(
  (columns: MetricColumns) => encodeSegment(columns, idsFrom(columns, 3, 1)),
  (columns: MetricColumns) => encodeSegment(columns, idsFrom(columns, 100, -2)),
);

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });

/** Small numbers, the largest, and any others: likely values of damaged counts and sizes. */
const u32 = fc.oneof(fc.nat(9), fc.constantFrom(0xffff_ffff, 0x8000_0000, 0x1000_0000), fc.nat());

/** A segment with the two keys `acc` (id 9, at point 1 only) and `loss` (id 4), three points and times: the section offsets below are those of this sample. */
const sampleColumns = columnsOf([
  { metrics: { loss: 3 }, step: 0, timestampUs: 10 },
  { metrics: { loss: 2, acc: 0.5 }, step: 1, timestampUs: 20 },
  { metrics: { loss: 1 }, step: 2, timestampUs: 40 },
]);
const [acc, loss] = [9, 4];
const sample = encodeSegment(sampleColumns, Uint32Array.of(acc, loss));
const valuesAt = SEGMENT_HEADER_BYTES + 16 + 8 + 16;
const countsAt = valuesAt + 8 * 4;
const idsAt = countsAt + 4;
const indexesAt = idsAt + 8;
const presenceAt = indexesAt + 2;

/** Returns the sample with some bytes replaced. */
function damaged(...changes: [at: number, byte: number][]): Uint8Array {
  const segment = Uint8Array.from(sample);
  for (const [at, byte] of changes) segment[at] = byte;
  return segment;
}

describe("reading what is not a segment", () => {
  test("the undamaged sample is readable and as long as its sections", () => {
    expect(isReadable(sample)).toBe(true);
    expect(sample).toHaveLength(presenceAt + 2);
  });

  test.each<[string, Uint8Array, string]>([
    ["nothing", new Uint8Array(0), "empty"],
    ["a version byte alone", Uint8Array.of(1), "cut short"],
    ["version 0", damaged([0, 0]), "unknown version"],
    ["a version of the future", damaged([0, 3]), "unknown version"],
    ["an unknown step codec", damaged([1, 2]), "unknown step codec"],
    ["an unknown time codec", damaged([2, 3]), "unknown time codec"],
    ["an unknown point index width", damaged([3, 1]), "point index width"],
    ["wide point indexes of few points", damaged([3, 4]), "point index width"],
    ["point indexes but no sparse column", damaged([12, 0]), "point index width"],
    ["more sparse columns than keys", damaged([12, 3]), "contradicts itself"],
    ["no points of two keys", damaged([4, 0]), "contradicts itself"],
    ["fewer values than points", damaged([16, 2]), "contradicts itself"],
    ["a segment without its last byte", sample.subarray(0, -1), "another size"],
    ["a segment with a byte behind it", Uint8Array.of(...sample, 0), "another size"],
    ["a sparse column without values", damaged([countsAt, 0]), "without values"],
    ["a sparse column with more values than there are", damaged([countsAt, 200]), "out of bounds"],
    ["a sparse column with more point indexes than there are", damaged([countsAt, 2]), "out of bounds"],
    ["ids said to be consecutive", damaged([20, 4], [21, 0], [22, 0], [23, 0]), "another size"],
    ["consecutive ids beyond 32 bits", damaged([20, 0xfe]), "contradicts itself"],
    ["a presence code of the future", damaged([presenceAt, 2]), "unknown presence code"],
    ["more sparse columns than announced", damaged([presenceAt + 1, 1]), "number of sparse columns"],
    ["fewer sparse columns than announced", damaged([presenceAt, 0]), "number of sparse columns"],
    ["a point index behind the last point", damaged([indexesAt, 3]), "out of range"],
  ])("%s is refused by name", (_, segment, text) => {
    expect(() => decodeSegment(segment)).toThrow(
      expect.objectContaining({ name: "CodecError", message: expect.stringContaining(text) }),
    );
  });

  test("a few bytes that claim billions of points do not make the reader allocate memory for them", () => {
    // One sparse key of one value, at the first of that many points, which a stride describes in 16 bytes.
    const segment = new Uint8Array(SEGMENT_HEADER_BYTES + 16 + 8 + 4 + 4 + 1);
    segment.set([1, 1, 0, 4]);
    const view = new DataView(segment.buffer);
    const [points, keys, sparseColumns, values, firstId] = [0xffff_ffff, 1, 1, 1, 0];
    [points, keys, sparseColumns, values, firstId].forEach((number, i) => view.setUint32(4 + 4 * i, number, true));
    view.setUint32(SEGMENT_HEADER_BYTES + 16 + 8, 1, true);
    segment.set([1], segment.length - 1);
    expect(() => decodeSegment(segment)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test.each<[string, Uint8Array]>([
    ["an unknown version", damaged([0, 9])],
    ["a cut segment", sample.subarray(0, -1)],
    ["an unknown presence code on the way", damaged([presenceAt, 7])],
    ["more sparse columns than announced", damaged([presenceAt + 1, 1])],
    ["a column beyond the values", damaged([countsAt, 2])],
  ])("one key is not read from a segment with %s", (_, segment) => {
    expect(() => decodeSegmentKey(segment, loss)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test.each<[string, Uint8Array]>([
    ["a point index behind the last point", damaged([indexesAt, 3])],
    ["no values", damaged([countsAt, 0])],
    ["more point indexes than there are", damaged([countsAt, 2])],
  ])("a sparse key is not read with %s", (_, segment) => {
    expect(() => decodeSegmentKey(segment, acc)).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test("random bytes are never read beyond their end and throw nothing else", () => {
    fc.assert(
      fc.property(bytes(200), (segment) => void isReadable(segment)),
      { numRuns: 2_000 },
    );
    const headed = fc
      .tuple(
        fc.constantFrom(1, 2),
        fc.nat(2),
        fc.nat(3),
        fc.constantFrom(0, 2, 4),
        fc.array(u32, { minLength: 5, maxLength: 5 }),
        bytes(300),
      )
      .map(([version, stepCodec, timeCodec, width, numbers, rest]) => {
        const segment = new Uint8Array(SEGMENT_HEADER_BYTES + rest.length);
        segment.set([version, stepCodec, timeCodec, width]);
        const view = new DataView(segment.buffer);
        numbers.forEach((number, i) => view.setUint32(4 + 4 * i, number, true));
        segment.set(rest, SEGMENT_HEADER_BYTES);
        return segment;
      });
    fc.assert(
      fc.property(headed, (segment) => void isReadable(segment)),
      { numRuns: 3_000 },
    );
  });

  test("a segment that lost or gained bytes at its end is refused", () => {
    fc.assert(
      fc.property(anyPoints, anyEncoder, fc.nat(), bytes(20), (points, encode, cut, more) => {
        const segment = encode(columnsOf(points));
        expect(isReadable(segment.subarray(0, cut % segment.length))).toBe(false);
        expect(isReadable(Uint8Array.of(...segment, 0, ...more))).toBe(false);
      }),
    );
  });

  test("a segment with damaged bytes is read or refused, and nothing else happens", () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyPoints, anyEncoder, damage, fc.boolean(), (points, encode, changes, inHeader) => {
        const segment = encode(columnsOf(points));
        for (const [at, byte] of changes) segment[at % (inHeader ? SEGMENT_HEADER_BYTES : segment.length)] = byte;
        isReadable(segment);
      }),
      { numRuns: 3_000 },
    );
  });
});
