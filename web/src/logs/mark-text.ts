/** A piece of a text, and whether it is what was searched for. */
export type MarkedText = { readonly text: string; readonly isHit: boolean };

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Cuts a text at the places that hold what was searched for; ASCII letters match in either case, as the server searches. */
export function markText(text: string, wanted: string): readonly MarkedText[] {
  const needle = lower(wanted.trim());
  if (needle === "") return [{ text, isHit: false }];
  const hay = lower(text);
  const pieces: MarkedText[] = [];
  let from = 0;
  for (let at = hay.indexOf(needle); at >= 0; at = hay.indexOf(needle, from)) {
    if (at > from) pieces.push({ text: text.slice(from, at), isHit: false });
    pieces.push({ text: text.slice(at, at + needle.length), isHit: true });
    from = at + needle.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isHit: false });
  return pieces;
}
