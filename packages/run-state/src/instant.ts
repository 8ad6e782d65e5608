const texts = new WeakMap<Date, string>();

/**
 * An RFC 3339 text as a Date. A Date has no microseconds, so the text is remembered: an instant that
 * a transition only passes on is written back exactly.
 */
export function instantOf(text: string): Date {
  const date = new Date(text);
  texts.set(date, text);
  return date;
}

/** The text that a Date was made from by `instantOf`, else its own. */
export function instantText(date: Date): string {
  return texts.get(date) ?? date.toISOString();
}
