/** JSON that is written piece by piece into one stretch of bytes. */
export type JsonBytes = {
  /** Adds text that is JSON, or a piece of it. */
  text(text: string): void;
  /** Adds what `write` writes into the bytes from `at` on, at most `bytesMax` of them; it returns where it ends. */
  write(bytesMax: number, write: (target: Buffer, at: number) => number): void;
  /** All of it. Nothing can be added then. */
  take(): Buffer;
};

/** A UTF-16 unit has at most three bytes in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** Begins with room for so many bytes, and makes more as it is needed. */
export function createJsonBytes(capacity: number): JsonBytes {
  let bytes = Buffer.allocUnsafe(capacity);
  let at = 0;
  const makeRoom = (count: number): void => {
    if (at + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(at + count, 2 * bytes.length));
    bytes.copy(larger, 0, 0, at);
    bytes = larger;
  };
  return {
    text(text) {
      makeRoom(UNIT_BYTES_MAX * text.length);
      at += bytes.write(text, at);
    },
    write(bytesMax, write) {
      makeRoom(bytesMax);
      at = write(bytes, at);
    },
    take: () => bytes.subarray(0, at),
  };
}
