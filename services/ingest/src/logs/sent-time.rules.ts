import type { SentTime } from "@tidemark/log-codec";

const SECOND_US = 1_000_000;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** The index of the first decimal: after `2026-01-02T03:04:05.`. */
const DECIMALS_AT = 20;
const DECIMALS_MAX = 6;

/**
 * Reads an RFC 3339 time in UTC with at most six decimals, exactly, for the years 1 to 9999. Returns undefined for anything else. It reads digit
 * by digit, because a request may hold fifty times and this is quicker than a regular expression or Date, which accepts a 30 February.
 */
export function readSentTime(text: string): SentTime | undefined {
  const isShaped =
    text[4] === "-" &&
    text[7] === "-" &&
    text[10] === "T" &&
    text[13] === ":" &&
    text[16] === ":" &&
    text.endsWith("Z");
  if (!isShaped) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const days = month === 2 && isLeap(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);
  // A character that is not a digit makes NaN, which is in no range.
  const isTime = year >= 1 && day >= 1 && day <= days && hour <= 23 && minute <= 59 && second <= 59;
  const micros = microsOf(text);
  if (!isTime || Number.isNaN(micros)) return undefined;
  return { seconds: ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second, micros };
}

/** Reads the decimals between the seconds and the Z as microseconds; NaN when they are not valid. */
function microsOf(text: string): number {
  const count = text.length - 1 - DECIMALS_AT;
  if (text.length === DECIMALS_AT) return 0;
  if (text[DECIMALS_AT - 1] !== "." || count < 1 || count > DECIMALS_MAX) return Number.NaN;
  return digits(text, DECIMALS_AT, DECIMALS_AT + count) * 10 ** (DECIMALS_MAX - count);
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Counts days of the Gregorian calendar in years that begin with March, so that the leap day is the last day. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const daysBefore = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5);
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + daysBefore + day - 1 - 719_468;
}

/**
 * Creates a writer for columns of times: RFC 3339 in UTC without trailing zeros, as PostgreSQL writes them. It remembers the latest second,
 * because neighbors often share it.
 */
export function createTimeWriter(): (seconds: number, micros: number) => string {
  let latest = Number.NaN;
  let whole = "";
  return (seconds, micros) => {
    if (seconds !== latest) {
      whole = new Date(seconds * 1000).toISOString().slice(0, -".000Z".length);
      latest = seconds;
    }
    return micros === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(6, "0").replace(/0+$/, "")}Z`;
  };
}

/** Returns whole microseconds since the Unix epoch as seconds and microseconds. */
export function splitMicros(micros: number): SentTime {
  const seconds = Math.floor(micros / SECOND_US);
  return { seconds, micros: micros - seconds * SECOND_US };
}
