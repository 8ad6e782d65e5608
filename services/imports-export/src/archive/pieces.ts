/** Characters that are sent together. */
const PIECE_CHARACTERS = 128 * 1024;

/** Joins texts into pieces of bytes large enough for a message. */
export async function* piecesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  let waiting: string[] = [];
  let characters = 0;
  for await (const text of texts) {
    waiting.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS) continue;
    yield Buffer.from(waiting.join(""));
    waiting = [];
    characters = 0;
  }
  if (waiting.length > 0) yield Buffer.from(waiting.join(""));
}
