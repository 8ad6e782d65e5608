import { Buffer } from "node:buffer";

import { SURROGATE, type Alphabet } from "./alphabet.ts";

/** Characters that are classified at a time: with their classes they stay in the nearest cache. */
const CHUNK_UNITS = 8_192;

/** Replaces units by their classes until one is part of a surrogate pair; returns the place of that, or `length`. */
function classify(text: Uint16Array, units: Uint16Array, length: number): number {
  for (let i = 0; i < length; i++) {
    const found = units[text[i]!]!;
    if (found === SURROGATE) return i;
    text[i] = found;
  }
  return length;
}

/** Filled with the units of a piece of text, which then become its classes in place. One is enough: nothing here waits. */
const classes = new Uint16Array(CHUNK_UNITS + 1);
const bytes = Buffer.from(classes.buffer);

const isHigh = (unit: number) => unit >= 0xd8_00 && unit <= 0xdb_ff;
const isLow = (unit: number) => unit >= 0xdc_00 && unit <= 0xdf_ff;

/**
 * Turns texts into the classes of their characters, a chunk after the other, the class `end` after the last. The array
 * is valid until the next chunk of any reader.
 */
export type ClassReader = {
  readonly classes: Uint16Array;
  /** Begins a text. */
  open(text: string): void;
  /** Fills `classes`; returns how many are there, 0 after the end. */
  next(): number;
};

/** Makes the reader for one alphabet. A surrogate that stands alone is a character of its own. */
export function createClassReader(alphabet: Alphabet): ClassReader {
  const { units, end } = alphabet;
  let text = "";
  let from = 0;

  /** As {@link classify} from place `i` on, pairs included; returns the number of characters, from the first on. */
  function classifyPairs(i: number, length: number): number {
    let count = i;
    for (let at = i; at < length; at++) {
      const unit = classes[at]!;
      let found = units[unit]!;
      if (found === SURROGATE) {
        const low = classes[at + 1]!;
        const pair = isHigh(unit) && at + 1 < length && isLow(low);
        found = alphabet.classOf(pair ? 0x1_00_00 + ((unit - 0xd8_00) << 10) + (low - 0xdc_00) : unit);
        if (pair) at++;
      }
      classes[count++] = found;
    }
    return count;
  }

  return {
    classes,
    open(opened) {
      text = opened;
      from = 0;
    },
    next() {
      if (from > text.length) return 0;
      let to = Math.min(from + CHUNK_UNITS, text.length);
      // A pair is never cut: its first half waits for the next chunk.
      if (to < text.length && isHigh(text.charCodeAt(to - 1))) to--;
      const length = bytes.write(text.slice(from, to), "utf16le") >> 1;
      let count = classify(classes, units, length);
      if (count < length) count = classifyPairs(count, length);
      from = to;
      if (to === text.length) {
        classes[count++] = end;
        from++;
      }
      return count;
    },
  };
}
