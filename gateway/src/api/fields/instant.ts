import { badRequest } from "@tidemark/errors";
import { required, type Field } from "./field.ts";

/** A moment, to the microsecond. */
export type Instant = {
  /** Microseconds since 1970, exact between the years 1685 and 2255, to 32 µs in the year 9999. */
  readonly micros: number;
  /** RFC 3339 in UTC as PostgreSQL's columns come back: `2026-01-02T03:04:05.25Z`, no trailing zeros. */
  readonly text: string;
};

const shape =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** The largest double that is still a moment of the year 9999: the one after it is the year 10000. */
const LAST_MICROS = 253_402_300_799_999_968;
const LENGTH_MAX = 64;

/**
 * Reads RFC 3339 with `Z` or an offset. Digits below a microsecond are dropped. `undefined` for
 * anything else: no zone, a day that the month does not have, a year outside 1 to 9999 in UTC. A leap
 * second (23:59:60 in UTC at the end of a month) is the second after it, as in POSIX time.
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

let latestLocal = "";
let latestMs = Number.NaN;

/** Milliseconds of a date and time of day, NaN for one that no calendar has. Remembers the latest: times of one request are often of one second. */
function parseLocal(local: string): number {
  if (local === latestLocal) return latestMs;
  const ms = Date.parse(`${local}Z`);
  // Date.parse takes 30 February for 1 March and 24:00 for the next day; reading it back tells.
  const exists = !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === local;
  latestLocal = local;
  latestMs = exists ? ms : Number.NaN;
  return latestMs;
}

function beginsMonth(ms: number): boolean {
  return new Date(ms).toISOString().endsWith("-01T00:00:00.000Z");
}

/** Describes an instant. */
export function instant(): Field<Instant> {
  return required({ type: "string", format: "date-time" }, (value, name) => {
    const found = parseInstant(value);
    if (found === undefined) throw badRequest(`${name} must be an RFC 3339 time with a zone`, name);
    return found;
  });
}

/** Describes an instant that is read as its text in UTC. */
export const instantText: Field<string> = (() => {
  const { schema, check } = instant();
  return required(schema, (value, name) => check(value, name).text);
})();
