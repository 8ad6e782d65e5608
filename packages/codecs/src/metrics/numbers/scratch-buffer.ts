/** Allocates memory for decoded numbers. It is not cleared, so its user writes all of it. */
export type NumberBuffer = {
  readonly numbers: (count: number) => Float64Array<ArrayBuffer>;
  readonly words: (count: number) => Int32Array<ArrayBuffer>;
};

/** Memory that is reused. */
export type ScratchBuffer = NumberBuffer & {
  /** Makes all memory available again; arrays that were allocated before must no longer be used. */
  readonly reuse: () => void;
};

/** Allocates new memory each time, so that the arrays may be kept. */
export const freshMemory: NumberBuffer = {
  numbers: (count) => new Float64Array(count),
  words: (count) => new Int32Array(count),
};

const FIRST_BYTES = 128 * 1024;

/** Creates a buffer for numbers that are only needed until the next ones are decoded. It keeps as much memory as was ever needed between two calls of `reuse`. */
export function createScratchBuffer(): ScratchBuffer {
  let buffer = new ArrayBuffer(FIRST_BYTES);
  let used = 0;
  const take = (bytes: number): number => {
    const full = 8 * Math.ceil(bytes / 8);
    // Arrays of the old buffer keep it alive.
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
