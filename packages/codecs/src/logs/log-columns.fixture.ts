import fc from "fast-check";
import { countOf, messageAt, newColumns, type LogColumns, type SentTime } from "./log-columns.ts";

/** A line as tests write it. */
export type TestLine = {
  lineNumber: number;
  id: number;
  createdUs: number;
  sent: SentTime | null;
  message: string;
};

/** Returns lines, which are in order, as columns. */
export function columnsOf(lines: readonly TestLine[]): LogColumns {
  const texts = lines.map(({ message }) => Buffer.from(message));
  const columns = newColumns(
    lines.length,
    texts.reduce((sum, text) => sum + text.length, 0),
  );
  lines.forEach((line, i) => {
    columns.lineNumbers[i] = line.lineNumber;
    columns.ids[i] = line.id;
    columns.createdUs[i] = line.createdUs;
    columns.sentSeconds[i] = line.sent?.seconds ?? Number.NaN;
    columns.sentMicros[i] = line.sent?.micros ?? 0;
    columns.text.set(texts[i]!, columns.offsets[i]);
    columns.offsets[i + 1] = columns.offsets[i]! + texts[i]!.length;
  });
  return columns;
}

/** Returns columns as lines. */
export function linesOf(columns: LogColumns): TestLine[] {
  return Array.from({ length: countOf(columns) }, (_, i) => {
    const seconds = columns.sentSeconds[i]!;
    return {
      lineNumber: columns.lineNumbers[i]!,
      id: columns.ids[i]!,
      createdUs: columns.createdUs[i]!,
      sent: Number.isNaN(seconds) ? null : { seconds, micros: columns.sentMicros[i]! },
      message: messageAt(columns, i),
    };
  });
}

/** Sorts lines into the order of the stream. */
export function sorted(lines: readonly TestLine[]): TestLine[] {
  return lines.toSorted((a, b) => a.lineNumber - b.lineNumber || a.id - b.id);
}

const largest = Number.MAX_SAFE_INTEGER;
/** Small numbers, so that lines share line numbers and requests; and any, up to the largest. */
const anyNumber = fc.oneof(fc.nat(40), fc.nat(2000), fc.maxSafeNat(), fc.constantFrom(0, largest, largest - 1));

/** Times of one hour, with or without microseconds, or of any century. */
const anySent: fc.Arbitrary<SentTime> = fc.oneof(
  fc.record({ seconds: fc.integer({ min: 1_767_000_000, max: 1_767_003_600 }), micros: fc.nat(999_999) }),
  fc.record({ seconds: fc.integer({ min: 1_767_000_000, max: 1_767_003_600 }), micros: fc.constant(0) }),
  fc.record({ seconds: fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), micros: fc.nat(999_999) }),
);

/** Texts as consoles show them, and any others. */
export const anyMessage = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.toWellFormed()),
  fc.constantFrom("", "\u001b[31mred\u001b[0m\r", "  45%|████▌     | 2250/5000", "step=1 loss=0.5", "É é ß K"),
);

/** Lines in order, no two at one position. */
export const anyLines: fc.Arbitrary<TestLine[]> = fc
  .uniqueArray(
    fc.record({
      lineNumber: anyNumber,
      id: anyNumber,
      createdUs: fc.oneof(fc.constantFrom(0, 1_767_323_045_678_901), fc.nat(3_000_000_000_000_000)),
      sent: fc.option(anySent, { nil: null }),
      message: anyMessage,
    }),
    { selector: ({ lineNumber, id }) => `${lineNumber}/${id}`, maxLength: 150 },
  )
  .map(sorted);

/** Returns a plain block as SQL writes it. */
export function plainBlockOf(lines: readonly TestLine[]): Uint8Array {
  const records = lines.map((line) => {
    const message = Buffer.from(line.message);
    const record = Buffer.alloc(36 + message.length);
    record.writeBigInt64BE(BigInt(line.lineNumber), 0);
    record.writeBigInt64BE(BigInt(line.id), 8);
    record.writeBigInt64BE(BigInt(line.createdUs), 16);
    const sent = line.sent === null ? -(2n ** 63n) : BigInt(line.sent.seconds) * 1_000_000n + BigInt(line.sent.micros);
    record.writeBigInt64BE(sent, 24);
    record.writeUInt32BE(message.length, 32);
    record.set(message, 36);
    return record;
  });
  return Buffer.concat([Uint8Array.of(2), ...records]);
}
