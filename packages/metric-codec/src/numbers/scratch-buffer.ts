/** Gives memory for decoded numbers, whose contents are to be written whole. */
export type NumberBuffer = {
  readonly numbers: (count: number) => Float64Array<ArrayBuffer>;
  readonly words: (count: number) => Int32Array<ArrayBuffer>;
};

/** Memory that is used again. */
export type ScratchBuffer = NumberBuffer & {
  /** Takes back all that was given. */
  readonly reuse: () => void;
};

/** Memory of its own for each, which may be kept. */
export const freshMemory: NumberBuffer = {
  numbers: (count) => new Float64Array(count),
  words: (count) => new Int32Array(count),
};

const FIRST_BYTES = 128 * 1024;

/** Memory for what is looked at and left before the next is decoded. It has memory for the most that was ever asked for between two calls of `reuse`. */
export function createScratchBuffer(): ScratchBuffer {
  let buffer = new ArrayBuffer(FIRST_BYTES);
  let used = 0;
  const take = (bytes: number): number => {
    const full = 8 * Math.ceil(bytes / 8);
    // What was given of the old memory keeps it.
    if (used + full > buffer.byteLength) {
      buffer = new ArrayBuffer(Math.max(2 * buffer.byteLength, full));
      used = 0;
    }
    used += full;
    return used - full;
  };
  return {
    numbers(count) {
      const at = take(8 * count);
      return new Float64Array(buffer, at, count);
    },
    words(count) {
      const at = take(4 * count);
      return new Int32Array(buffer, at, count);
    },
    reuse() {
      used = 0;
    },
  };
}
