/**
 * Console lines of one stream as columns, ascending by line number and then by id. Each array has one element per line, `offsets` one more:
 * the message of line i is in `text`, in UTF-8, from `offsets[i]` up to `offsets[i + 1]`. The arrays may be views of larger ones.
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

/** The position of a line in its stream. */
export type LinePosition = { readonly lineNumber: number; readonly id: number };

/** Returns a negative number if `a` comes before `b`, 0 if they are the same position, else a positive one. */
export function comparePositions(a: LinePosition, b: LinePosition): number {
  return a.lineNumber - b.lineNumber || a.id - b.id;
}

/** Returns the number of lines. */
export function countOf(columns: LogColumns): number {
  return columns.lineNumbers.length;
}

/** Returns the position of line `index`. */
export function positionAt(columns: LogColumns, index: number): LinePosition {
  return { lineNumber: columns.lineNumbers[index]!, id: columns.ids[index]! };
}

/** Returns the message of line `index`. */
export function messageAt(columns: LogColumns, index: number): string {
  const { text, offsets } = columns;
  const from = offsets[index]!;
  return Buffer.from(text.buffer, text.byteOffset + from, offsets[index + 1]! - from).toString("utf8");
}

/** Returns the bytes of all messages. */
export function messageBytesOf(columns: LogColumns): number {
  return columns.offsets[countOf(columns)]! - columns.offsets[0]!;
}

/** Returns the lines from index `from` up to `to`, which share the memory of `columns`. */
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

/** Returns the index of the first line after `position`, or the number of lines if there is none. */
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

/** Allocates columns for `count` lines with `textBytes` bytes of text, to be filled. One buffer, because allocating six small ones takes longer than filling them. */
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

/** A line as a request contains it; its id is its index in the request. */
export type ArrivingLine = {
  /** A whole number from 0 to 2^53 - 1. */
  readonly lineNumber: number;
  /** Well-formed text. */
  readonly message: string;
  /** The client's time; null if it sent none. */
  readonly sent: SentTime | null;
};

/** A moment: whole seconds since the Unix epoch in the years 1 to 9999, and the microseconds of that second. */
export type SentTime = { readonly seconds: number; readonly micros: number };

/** Returns the lines of a request in the order of the stream. Ids count from 0 in the order of the request; times of arrival are 0. */
export function columnsOfRequest(lines: readonly ArrivingLine[]): LogColumns {
  const order = indexesInOrder(lines);
  // Encode all texts together: encoding one by one would call into native code twice for each.
  let whole = "";
  for (const index of order) whole += lines[index]!.message;
  const text = Buffer.from(whole);
  const isAscii = text.length === whole.length;
  const columns = { ...newColumns(lines.length, 0), text };
  let end = 0;
  order.forEach((index, i) => {
    const { lineNumber, message, sent } = lines[index]!;
    columns.lineNumbers[i] = lineNumber;
    columns.ids[i] = index;
    columns.sentSeconds[i] = sent === null ? Number.NaN : sent.seconds;
    columns.sentMicros[i] = sent === null ? 0 : sent.micros;
    columns.offsets[i + 1] = end += isAscii ? message.length : Buffer.byteLength(message);
  });
  return columns;
}

function indexesInOrder(lines: readonly ArrivingLine[]): number[] {
  const indexes = lines.map((_, i) => i);
  const inOrder = lines.every(({ lineNumber }, i) => i === 0 || lines[i - 1]!.lineNumber <= lineNumber);
  return inOrder ? indexes : indexes.sort((a, b) => lines[a]!.lineNumber - lines[b]!.lineNumber || a - b);
}
