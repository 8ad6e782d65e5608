/** The parts of a key press that its name is made from. */
export type Pressed = {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
};

/**
 * Returns the name of a key press as shortcuts have it: `j`, `Shift+x`, `Ctrl+k`, `?`, `Enter`, `ArrowDown`. The command key of a Mac counts as
 * Ctrl. Shift is part of the name only with letters and named keys: where `?` is depends on the keyboard.
 */
export function pressedName({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): string {
  const isLetter = /^\p{L}$/u.test(key);
  const name = isLetter ? key.toLowerCase() : key === " " ? "Space" : key;
  const hasShift = shiftKey && (isLetter || name.length > 1);
  return [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", hasShift ? "Shift+" : "", name].join("");
}

/** Returns a shortcut as it was written in the form that `pressedName` has: letters in lower case, where `Shift` is not said otherwise. */
export function shortcutName(written: string): string {
  return written === "+"
    ? written
    : written.replace(/(^|\+)(\p{L})$/u, (_, before: string, letter: string) => before + letter.toLowerCase());
}
