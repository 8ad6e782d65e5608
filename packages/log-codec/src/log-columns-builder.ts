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
  const order = lines.map((_, i) => i);
  const inOrder = lines.every(({ lineNumber }, i) => i === 0 || lines[i - 1]!.lineNumber <= lineNumber);
  if (!inOrder) order.sort((a, b) => lines[a]!.lineNumber - lines[b]!.lineNumber || a - b);
  let textBytes = 0;
  for (const { message } of lines) textBytes += Buffer.byteLength(message);
  const columns = newColumns(lines.length, textBytes);
  const text = Buffer.from(columns.text.buffer);
  let end = 0;
  order.forEach((place, i) => {
    const { lineNumber, message, sent } = lines[place]!;
    columns.lineNumbers[i] = lineNumber;
    columns.ids[i] = place;
    columns.sentSeconds[i] = sent === null ? Number.NaN : sent.seconds;
    columns.sentMicros[i] = sent === null ? 0 : sent.micros;
    columns.offsets[i + 1] = end += text.write(message, end);
  });
  return columns;
}
