import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { isCodecError } from "../bytes.ts";
import { NONE, newSpanRecord, type SpanRecord } from "./span-record.ts";
import { createTreeWriter, readTree } from "./tree-columns.ts";

const seq = fc.oneof(fc.nat(5), fc.maxSafeNat());
const instant = fc.oneof(
  fc.integer({ min: 0, max: 2_000_000 }).map((us) => 1_795_176_000_000_000 + us),
  fc.constantFrom(-62_135_596_800_000_000, 253_402_300_799_999_968, 0, -1, 2 ** 51, -(2 ** 51), 2 ** 53),
);
const id = fc.integer({ min: 1, max: 0xffff_ffff });
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => value + 0);

/** A kept field: without a value, of the record's own event, or of another one. */
const kept = (value: fc.Arbitrary<number>, own: number) =>
  fc.oneof(
    fc.constant({ value: Number.NaN, seq: NONE }),
    value.map((some) => ({ value: some, seq: own })),
    fc.record({ value, seq }),
  );

const anyRecord: fc.Arbitrary<SpanRecord> = seq.chain((own) =>
  fc
    .record({
      high: id,
      low: id,
      parent: fc.option(fc.record({ high: fc.oneof(fc.nat(3), id), low: id, seq: fc.oneof(fc.constant(own), seq) })),
      startUs: instant,
      end: kept(instant, own),
      duration: kept(number, own),
      step: kept(number, own),
      rank: kept(fc.nat(), own),
      plain: fc.record({
        kind: fc.integer({ min: 1, max: 14 }),
        status: fc.integer({ min: 1, max: 5 }),
        redaction: fc.integer({ min: 1, max: 4 }),
        hasPreviews: fc.boolean(),
        isTruncated: fc.boolean(),
        hasContent: fc.boolean(),
        name: fc.string({ unit: "grapheme", minLength: 1 }),
        threadId: fc.constantFrom("", "a", "b"),
        rolloutId: fc.constantFrom("", "a"),
        inputTokens: fc.constantFrom(Number.NaN, 0, 12),
        outputTokens: fc.constantFrom(Number.NaN, 0.5),
        costUsd: fc.constantFrom(Number.NaN, 0.1),
        rewards: fc.array(fc.tuple(fc.string(), number), { maxLength: 3 }),
        payloadBytes: fc.nat(),
      }),
    })
    .map(({ high, low, parent, startUs, end, duration, step, rank, plain }) => ({
      ...newSpanRecord(),
      ...plain,
      idHigh: high,
      idLow: low,
      seq: own,
      parentHigh: parent?.high ?? 0,
      parentLow: parent?.low ?? 0,
      parentSeq: parent?.seq ?? NONE,
      startUs,
      endUs: end.value,
      endSeq: end.seq,
      durationMs: duration.value,
      durationSeq: duration.seq,
      step: step.value,
      stepSeq: step.seq,
      rank: rank.value,
      rankSeq: rank.seq,
    })),
);

const write = (records: readonly SpanRecord[]): Uint8Array => {
  const writer = createTreeWriter();
  for (const record of records) writer.add(record);
  return writer.done();
};
const read = (bytes: Uint8Array): SpanRecord[] => {
  const records: SpanRecord[] = [];
  readTree(bytes, (record) => records.push({ ...record }));
  return records;
};

test("records are read back unchanged", () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 40 }), (records) => {
      // Some name a parent that is among the records before.
      const related = records.map((record, i) =>
        i % 3 === 2 && record.parentSeq !== NONE
          ? { ...record, parentHigh: records[i - 1]!.idHigh, parentLow: records[i - 1]!.idLow }
          : record,
      );
      expect(read(write(related))).toEqual(related);
    }),
    { numRuns: 300 },
  );
});

test("any damaged bytes are an error of the codec", () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 6 }), fc.nat(), fc.nat(255), (records, at, byte) => {
      const bytes = Uint8Array.from(write(records));
      bytes[at % bytes.length] = byte;
      try {
        read(bytes.subarray(0, at % 2 === 0 ? bytes.length : at % bytes.length));
      } catch (error) {
        expect(isCodecError(error)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});
