/** Returns whether a text has at most `max` Unicode code points. */
export function hasAtMost(text: string, max: number): boolean {
  // A code point has one or two units.
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let points = 0;
  for (let at = 0; at < text.length; points++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return points <= max;
}
