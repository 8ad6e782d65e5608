/** Joins pieces until they have `bytesMin` together; the last piece has the rest. None is empty. */
export async function* gather(
  pieces: AsyncIterable<Uint8Array>,
  bytesMin: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const take = (): Uint8Array => {
    const joined = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
    return joined;
  };
  for await (const piece of pieces) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMin) yield take();
  }
  if (bytes > 0) yield take();
}
