const texts = new WeakMap<Date, string>();

/**
 * An instant of the database as a Date. A Date has no microseconds, so the text is remembered: an
 * instant that a transition passes on is written back exactly.
 */
export function toDate(text: string): Date {
  const date = new Date(text);
  texts.set(date, text);
  return date;
}

/** The text that a Date was made from, else its own. */
export function toText(date: Date): string {
  return texts.get(date) ?? date.toISOString();
}
