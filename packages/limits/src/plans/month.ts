/** A calendar month in UTC, with which quotas start over. Days and months are ISO 8601 texts. */
export type Month = {
  /** YYYY-MM. */
  readonly name: string;
  /** The first day: YYYY-MM-DD. */
  readonly firstDay: string;
  readonly startsAt: Date;
  /** The first moment of the next month. */
  readonly endsAt: Date;
};

/** Returns the month of a moment. */
export function monthOf(now: Date): Month {
  const startsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const endsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const firstDay = startsAt.toISOString().slice(0, 10);
  return { name: firstDay.slice(0, 7), firstDay, startsAt, endsAt };
}
