/**
 * Returns the bytes of a text in an answer: as JSON, with its quotes, in UTF-8. Pages are bounded by these, because a control character takes one byte
 * where it is stored, and six where it is sent.
 */
export function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
