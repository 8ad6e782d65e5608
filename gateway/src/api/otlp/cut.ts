import type { Attributes } from "@tidemark/otlp";

/** Something that may have been made shorter. */
export type Cut<T> = { readonly value: T; readonly isCut: boolean };

/** Cuts a text to at most `bytesMax` bytes of UTF-8, between characters. */
export function cutText(text: string, bytesMax: number): Cut<string> {
  // A character of UTF-16 is at most three bytes.
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return { value: text, isCut: false };
  const bytes = Buffer.from(text.slice(0, bytesMax));
  let end = Math.min(bytesMax, bytes.length);
  // A byte of the form 10xxxxxx continues the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { value: bytes.toString("utf8", 0, end), isCut: true };
}

/** Writes attributes as a JSON object of at most `bytesMax` bytes; those that no longer fit are left out. */
export function cutObject(attributes: Attributes, bytesMax: number): Cut<Uint8Array> {
  const members = cutList(
    Array.from(attributes, ([key, { json }]) => `${JSON.stringify(key)}:${json}`),
    bytesMax,
  );
  return { ...members, value: Buffer.from(`{${members.value.join(",")}}`) };
}

/** Keeps the texts that fit into `bytesMax` bytes between two brackets and with commas; later ones may fit where an earlier one did not. */
export function cutList(texts: readonly string[], bytesMax: number): Cut<string[]> {
  let left = bytesMax - 1;
  const value = texts.filter((text) => {
    const bytes = Buffer.byteLength(text) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return { value, isCut: value.length < texts.length };
}
