import { countOf, type LogColumns } from "./log-columns.ts";

/** Finds lines whose message contains a text. The case of ASCII letters does not matter; everything else must match exactly. */
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
      return found;
    },
  };
}

function lowered(bytes: Uint8Array): Buffer {
  // Always the same kind of array, because the loop is slower if it sees Buffers as well.
  const from = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const to = new Uint8Array(from.length);
  for (let i = 0; i < from.length; i++) to[i] = LOWER[from[i]!]!;
  return Buffer.from(to.buffer);
}
