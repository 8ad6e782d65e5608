/** Cuts one stream of bytes into consecutive parts. */
export type BodySplitter = {
  /** The next `length` bytes, or fewer at the end of the body; has to be read before the next part is asked for. */
  readonly part: (length: number) => AsyncIterable<Uint8Array>;
  /** Ends the body early, so that its source lets go. */
  readonly close: () => Promise<void>;
};

/** Makes a splitter over a body; it holds at most one piece of the body at a time. */
export function splitBody(body: AsyncIterable<Uint8Array>): BodySplitter {
  const source = body[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();

  async function* part(length: number): AsyncGenerator<Uint8Array> {
    for (let left = length; left > 0;) {
      if (rest.byteLength === 0) {
        const next = await source.next();
        if (next.done) return;
        rest = next.value;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.byteLength);
      left -= piece.byteLength;
      if (piece.byteLength > 0) yield piece;
    }
  }
  return { part, close: async () => void (await source.return?.()) };
}
