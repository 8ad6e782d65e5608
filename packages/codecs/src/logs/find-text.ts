import { countOf, type LogColumns } from "./log-columns.ts";

/** Finds lines whose message contains a text, as it was sent or as a console shows it, without colors and other codes. The case of ASCII letters does not matter; everything else must match exactly. */
export type TextFinder = {
  /** Returns for each line from index `from` up to `to` 1 if its message contains the text, else 0. */
  find(columns: LogColumns, from?: number, to?: number): Uint8Array;
};

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** Creates a finder of a text, which must not be empty. It compares bytes: UTF-8 bytes of a text occur only where its characters do. */
export function createTextFinder(text: string): TextFinder {
  const wanted = lowered(Buffer.from(text));
  return {
    find(columns, from = 0, to = countOf(columns)) {
      const { offsets } = columns;
      const found = new Uint8Array(to - from);
      const start = offsets[from]!;
      const all = lowered(columns.text.subarray(start, offsets[to]));
      let line = from;
      for (let at = all.indexOf(wanted); at >= 0;) {
        while (offsets[line + 1]! - start <= at) line += 1;
        const end = offsets[line + 1]! - start;
        const inside = at + wanted.length <= end;
        if (inside) found[line - from] = 1;
        at = all.indexOf(wanted, inside ? end : at + 1);
      }
      line = from;
      for (let at = all.indexOf(ESCAPE); at >= 0;) {
        while (offsets[line + 1]! - start <= at) line += 1;
        const [begin, end] = [offsets[line]! - start, offsets[line + 1]! - start];
        if (found[line - from] === 0 && withoutCodes(all.subarray(begin, end)).includes(wanted)) found[line - from] = 1;
        at = all.indexOf(ESCAPE, end);
      }
      return found;
    },
  };
}

const ESCAPE = 0x1b;

/**
 * An escape sequence in bytes as characters: CSI, OSC and its likes (up to their end, or to the end of the text), or ESC with one more character.
 * Linear: no part of it can match in two ways.
 */
// oxlint-disable-next-line no-control-regex -- these are what a console sends
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[^[\]PX^_])?/g;

function withoutCodes(message: Buffer): Buffer {
  return Buffer.from(message.toString("latin1").replaceAll(CODES, ""), "latin1");
}

function lowered(bytes: Uint8Array): Buffer {
  // Always the same kind of array, because the loop is slower if it sees Buffers as well.
  const from = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const to = new Uint8Array(from.length);
  for (let i = 0; i < from.length; i++) to[i] = LOWER[from[i]!]!;
  return Buffer.from(to.buffer);
}
