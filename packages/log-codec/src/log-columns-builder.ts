import { newColumns, type LogColumns } from "./log-columns.ts";

/** A line as a request brings it; its id is its place in the request. */
export type ArrivingLine = {
  /** A whole number from 0 to 2^53 - 1. */
  readonly lineNumber: number;
  /** Well-formed text. */
  readonly message: string;
  /** The client's time; null when it sent none. */
  readonly sent: SentTime | null;
};

/** A moment: whole seconds since the Unix epoch in the years 1 to 9999, and the microseconds of that second. */
export type SentTime = { readonly seconds: number; readonly micros: number };

/** The lines of a request in the order of the stream; ids count from 0 in the order of the request, times of arrival are 0. */
export function columnsOfRequest(lines: readonly ArrivingLine[]): LogColumns {
  const order = placesInOrder(lines);
  // All texts at once: writing them one by one crosses into native code twice for each.
  let whole = "";
  for (const place of order) whole += lines[place]!.message;
  const text = Buffer.from(whole);
  const isAscii = text.length === whole.length;
  const columns = { ...newColumns(lines.length, 0), text };
  let end = 0;
  order.forEach((place, i) => {
    const { lineNumber, message, sent } = lines[place]!;
    columns.lineNumbers[i] = lineNumber;
    columns.ids[i] = place;
    columns.sentSeconds[i] = sent === null ? Number.NaN : sent.seconds;
    columns.sentMicros[i] = sent === null ? 0 : sent.micros;
    columns.offsets[i + 1] = end += isAscii ? message.length : Buffer.byteLength(message);
  });
  return columns;
}

function placesInOrder(lines: readonly ArrivingLine[]): number[] {
  const places = lines.map((_, i) => i);
  const inOrder = lines.every(({ lineNumber }, i) => i === 0 || lines[i - 1]!.lineNumber <= lineNumber);
  return inOrder ? places : places.sort((a, b) => lines[a]!.lineNumber - lines[b]!.lineNumber || a - b);
}
