/** Splits pieces of any size into requested lengths. It holds the current piece, and the bytes that one `take` gathers. */
export type ByteSource = {
  /** Returns the next `length` bytes, or fewer where the source ends. */
  take(length: number): Promise<Buffer>;
  /** Passes over `length` bytes and returns how many there were. */
  skip(length: number): Promise<number>;
  /** Ends the pieces, also where not all of them were taken, so that the caller's file closes. */
  close(): Promise<void>;
};

/** Creates a source of bytes over pieces. */
export function createByteSource(pieces: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = pieces[Symbol.asyncIterator]();
  let piece: Buffer = Buffer.alloc(0);
  let ended = false;
  const refill = async (): Promise<boolean> => {
    while (!ended && piece.length === 0) {
      const next: IteratorResult<Uint8Array, unknown> = await iterator.next();
      if (next.done === true) ended = true;
      else piece = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    return piece.length > 0;
  };
  const part = (length: number): Buffer => {
    const bytes = piece.subarray(0, length);
    piece = piece.subarray(bytes.length);
    return bytes;
  };
  return {
    async take(length) {
      if (piece.length >= length) return part(length);
      const parts: Buffer[] = [];
      let left = length;
      while (left > 0 && (await refill())) {
        const gathered = part(left);
        parts.push(gathered);
        left -= gathered.length;
      }
      return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    },
    async skip(length) {
      let left = length;
      while (left > 0 && (await refill())) left -= part(left).length;
      return length - left;
    },
    async close() {
      await iterator.return?.();
    },
  };
}
