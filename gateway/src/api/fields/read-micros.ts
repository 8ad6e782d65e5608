import { OFFSET_CHARACTERS, readDecimals, readOffset, readSeconds, SECONDS_CHARACTERS } from "@tidemark/values";

const POINT = ".".charCodeAt(0);
const LETTER_Z = "Z".charCodeAt(0);

/** The bounds of what is read here. On the days beyond them an offset may lead out of the years 1 to 9999. */
const FIRST_SECOND = Date.parse("0001-01-02T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-30T23:59:59Z") / 1000;

/**
 * Reads the forms of RFC 3339 in which clients send nearly all instants, such as `2026-01-02T03:04:05.678901Z` or with `+00:00`, as microseconds since
 * 1970; digits below a microsecond are dropped. NaN for anything else, some of which the general rule (`instant.ts`) may take: a small letter or a
 * blank within, blanks around it, a leap second, the first and the last day of all.
 */
export function readMicros(text: string): number {
  const zoneAt = zoneOf(text);
  const offset = zoneAt === text.length - 1 ? 0 : readOffset(text, zoneAt);
  const seconds = readSeconds(text) - offset;
  if (!(seconds >= FIRST_SECOND && seconds <= LAST_SECOND)) return Number.NaN;
  if (zoneAt === SECONDS_CHARACTERS) return seconds * 1_000_000;
  if (text.charCodeAt(SECONDS_CHARACTERS) !== POINT) return Number.NaN;
  return seconds * 1_000_000 + readDecimals(text, SECONDS_CHARACTERS + 1, zoneAt);
}

/** Returns where the zone begins in a text of such a form. */
export function zoneOf(text: string): number {
  const last = text.length - 1;
  return text.charCodeAt(last) === LETTER_Z ? last : last + 1 - OFFSET_CHARACTERS;
}
