import { archiveError, isArchiveError } from "./archive-error.ts";
import { LINE_BYTES_MAX, decodeLine, type ArchiveLine, type UnknownLine } from "./line.ts";

/** A line with its number, counted from 1. */
export type NumberedLine = { readonly number: number; readonly line: ArchiveLine | UnknownLine };

const LINE_FEED = 0x0a;

/**
 * Reads the lines of an archive from its bytes; holds one line at a time. Blank lines are skipped. Text after the last line feed is a
 * line as well, so a truncated archive is found by its missing `end`, or by a last line that is not valid.
 * @throws ArchiveError, whose `position` is the number of the line
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const take = (last: Uint8Array): NumberedLine | undefined => {
    number += 1;
    const bytes = waiting.length === 0 ? last : Buffer.concat([...waiting, last]);
    waiting = [];
    waitingBytes = 0;
    return readLine(bytes, number);
  };
  const keep = (bytes: Uint8Array): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waitingBytes > LINE_BYTES_MAX) throw at(number + 1, archiveError(`longer than ${LINE_BYTES_MAX} bytes`));
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const line = take(chunk.subarray(from, end));
      if (line !== undefined) yield line;
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
  const line = take(new Uint8Array());
  if (line !== undefined) yield line;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readLine(bytes: Uint8Array, number: number): NumberedLine | undefined {
  if (bytes.length > LINE_BYTES_MAX) throw at(number, archiveError(`longer than ${LINE_BYTES_MAX} bytes`));
  let json: string;
  try {
    json = utf8.decode(bytes);
  } catch (error) {
    throw at(number, archiveError("not UTF-8", error));
  }
  if (json.trim() === "") return undefined;
  try {
    return { number, line: decodeLine(json) };
  } catch (error) {
    throw isArchiveError(error) ? at(number, error) : error;
  }
}

function at(number: number, error: Error): Error & { readonly position: number } {
  return Object.assign(archiveError(`line ${number}: ${error.message}`, error), { position: number });
}
