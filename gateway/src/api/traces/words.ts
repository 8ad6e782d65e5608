/** Returns the word of a number that counts from 1; empty for a number without one. */
export function wordOf(words: readonly string[], number: number): string {
  return words[number - 1] ?? "";
}
