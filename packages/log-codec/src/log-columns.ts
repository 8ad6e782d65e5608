/**
 * Console lines of one stream as columns, ascending by line number and then by id. The arrays are as long as there are lines, `offsets` one
 * longer: the message of line i lies in `text`, in UTF-8, from `offsets[i]` up to `offsets[i + 1]`. They may be views of a larger whole.
 */
export type LogColumns = {
  /** Whole numbers from 0 to 2^53 - 1. */
  readonly lineNumbers: Float64Array;
  /** Order of arrival, unique in the stream; whole numbers from 0 to 2^53 - 1. */
  readonly ids: Float64Array;
  /** When the server received the line, in whole microseconds since the Unix epoch. */
  readonly createdUs: Float64Array;
  /** The client's time in whole seconds since the Unix epoch, NaN where it sent none. */
  readonly sentSeconds: Float64Array;
  /** The microseconds that belong to `sentSeconds`, 0 to 999,999. */
  readonly sentMicros: Uint32Array;
  readonly offsets: Uint32Array;
  readonly text: Uint8Array;
};

/** The place of a line in its stream. */
export type LinePosition = { readonly lineNumber: number; readonly id: number };

/** Below 0 when `a` comes before `b`, 0 when they are the same place. */
export function comparePositions(a: LinePosition, b: LinePosition): number {
  return a.lineNumber - b.lineNumber || a.id - b.id;
}

/** How many lines there are. */
export function countOf(columns: LogColumns): number {
  return columns.lineNumbers.length;
}

/** The place of line `index`. */
export function positionAt(columns: LogColumns, index: number): LinePosition {
  return { lineNumber: columns.lineNumbers[index]!, id: columns.ids[index]! };
}

/** The message of line `index`. */
export function messageAt(columns: LogColumns, index: number): string {
  const { text, offsets } = columns;
  const from = offsets[index]!;
  return Buffer.from(text.buffer, text.byteOffset + from, offsets[index + 1]! - from).toString("utf8");
}

/** Bytes of all messages. */
export function messageBytesOf(columns: LogColumns): number {
  return columns.offsets[countOf(columns)]! - columns.offsets[0]!;
}

/** The lines from index `from` up to `to`, sharing the memory of the whole. */
export function sliceColumns(columns: LogColumns, from: number, to: number): LogColumns {
  return {
    lineNumbers: columns.lineNumbers.subarray(from, to),
    ids: columns.ids.subarray(from, to),
    createdUs: columns.createdUs.subarray(from, to),
    sentSeconds: columns.sentSeconds.subarray(from, to),
    sentMicros: columns.sentMicros.subarray(from, to),
    offsets: columns.offsets.subarray(from, to + 1),
    text: columns.text,
  };
}

/** The index of the first line after `position`; the number of lines when there is none. */
export function indexAfter(columns: LogColumns, position: LinePosition): number {
  let low = 0;
  let high = countOf(columns);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const difference = columns.lineNumbers[middle]! - position.lineNumber || columns.ids[middle]! - position.id;
    if (difference > 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Columns for so many lines with so many bytes of text, to be filled. One piece of memory, because six small ones cost more than what is done with them. */
export function newColumns(count: number, textBytes: number): LogColumns {
  const buffer = new ArrayBuffer(40 * count + 4 + textBytes);
  const textAt = 40 * count + 4;
  return {
    lineNumbers: new Float64Array(buffer, 0, count),
    ids: new Float64Array(buffer, 8 * count, count),
    createdUs: new Float64Array(buffer, 16 * count, count),
    sentSeconds: new Float64Array(buffer, 24 * count, count),
    sentMicros: new Uint32Array(buffer, 32 * count, count),
    offsets: new Uint32Array(buffer, 36 * count, count + 1),
    text: new Uint8Array(buffer, textAt, textBytes),
  };
}
