import { badRequest } from "@tidemark/errors";
import { OFFSET_CHARACTERS, readDecimals, readOffset, readSeconds, SECONDS_CHARACTERS } from "@tidemark/values";
import { required, type Field } from "./field.ts";

/** A moment, to the microsecond. */
type Instant = {
  /** Microseconds since 1970, exact between the years 1685 and 2255, to 32 µs in the year 9999. */
  readonly micros: number;
  /** RFC 3339 in UTC as PostgreSQL returns it: `2026-01-02T03:04:05.25Z`, no trailing zeros. */
  readonly text: string;
};

const shape =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** The largest double that is still a moment of the year 9999: the one after it is the year 10000. */
const LAST_MICROS = 253_402_300_799_999_968;
const LENGTH_MAX = 64;

/** Reads an instant as its microseconds, `Instant.micros`. Takes what {@link parseInstant} takes, the usual forms much faster. */
export function parseMicros(value: unknown): number | undefined {
  if (typeof value !== "string" || value.length > LENGTH_MAX) return undefined;
  const micros = readMicros(value);
  return Number.isNaN(micros) ? parseInstant(value)?.micros : micros;
}

/** Reads an instant as its text in UTC, `Instant.text`. Takes what {@link parseInstant} takes, the usual forms in UTC much faster. */
export function parseInstantText(value: unknown): string | undefined {
  if (typeof value !== "string" || value.length > LENGTH_MAX) return undefined;
  const isUsual = (value.endsWith("Z") || value.endsWith("00:00")) && !Number.isNaN(readMicros(value));
  return isUsual ? textOfUtc(value) : parseInstant(value)?.text;
}

/** Returns the text of an instant that has been read in a usual form and in UTC: the same text where it is already in that form. */
function textOfUtc(value: string): string {
  let end = Math.min(zoneOf(value), SECONDS_CHARACTERS + ".123456".length);
  if (end > SECONDS_CHARACTERS) {
    while (value[end - 1] === "0") end -= 1;
    if (value[end - 1] === ".") end -= 1;
  }
  return value[end] === "Z" ? value : `${value.slice(0, end)}Z`;
}

/**
 * Reads RFC 3339 with `Z` or an offset. Digits below a microsecond are dropped. `undefined` for
 * anything else: no zone, a day that the month does not have, a year outside 1 to 9999 in UTC. A leap
 * second (23:59:60 in UTC at the end of a month) is the second after it, as in POSIX time.
 *
 * This is the whole rule, with nothing left out for speed.
 */
export function parseInstant(value: unknown): Instant | undefined {
  if (typeof value !== "string" || value.length > LENGTH_MAX) return undefined;
  const match = shape.exec(value.trim());
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHours, offsetMinutes] = match;
  const leap = second === "60";
  const local = `${year}-${month}-${day}T${hour}:${minute}:${leap ? "59" : second}`;
  const localMs = parseLocal(local);
  if (Number.isNaN(localMs)) return undefined;
  const offset = sign === undefined ? 0 : (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  const ms = (sign === "-" ? localMs + offset : localMs - offset) + (leap ? 1000 : 0);
  if (leap && !beginsMonth(ms)) return undefined;
  if (ms < FIRST_MS || ms > LAST_MS) return undefined;
  const digits = fraction.slice(0, 6).padEnd(6, "0");
  const decimals = digits.replace(/0+$/, "");
  const whole = ms === localMs ? local : new Date(ms).toISOString().slice(0, 19);
  const micros = Math.min(ms * 1000 + Number(digits), LAST_MICROS);
  return { micros, text: decimals === "" ? `${whole}Z` : `${whole}.${decimals}Z` };
}

/** Returns the milliseconds of a date and time of day, NaN for one that no calendar has. */
function parseLocal(local: string): number {
  const ms = Date.parse(`${local}Z`);
  // Date.parse takes 30 February for 1 March and 24:00 for the next day; reading it back shows this.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === local;
  return exists ? ms : Number.NaN;
}

function beginsMonth(ms: number): boolean {
  return new Date(ms).toISOString().endsWith("-01T00:00:00.000Z");
}

const schema = { type: "string", format: "date-time" };

const fieldOf = <T>(parse: (value: unknown) => T | undefined): Field<T> =>
  required(schema, (value, name) => {
    const found = parse(value);
    if (found === undefined) throw badRequest(`${name} must be an RFC 3339 time with a zone`, name);
    return found;
  });

/** Describes an instant that is read as microseconds since 1970. */
export const instantMicros: Field<number> = fieldOf(parseMicros);

/** Describes an instant that is read as its text in UTC. */
export const instantText: Field<string> = fieldOf(parseInstantText);

const POINT = ".".charCodeAt(0);
const LETTER_Z = "Z".charCodeAt(0);

/** The bounds of what is read here. On the days beyond them an offset may lead out of the years 1 to 9999. */
const FIRST_SECOND = Date.parse("0001-01-02T00:00:00Z") / 1000;
const LAST_SECOND = Date.parse("9999-12-30T23:59:59Z") / 1000;

/**
 * Reads the forms of RFC 3339 in which clients send nearly all instants, such as `2026-01-02T03:04:05.678901Z` or with `+00:00`, as microseconds since
 * 1970; digits below a microsecond are dropped. NaN for anything else, some of which the general rule ({@link parseInstant}) may take: a small letter or a
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
function zoneOf(text: string): number {
  const last = text.length - 1;
  return text.charCodeAt(last) === LETTER_Z ? last : last + 1 - OFFSET_CHARACTERS;
}
