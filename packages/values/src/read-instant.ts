/*
 * The parts of an RFC 3339 text, read character by character: a request may hold hundreds of them, and a regular expression with Date takes
 * twenty times as long. Nothing is allocated.
 */

/** The characters of `2026-01-02T03:04:05`. */
export const SECONDS_CHARACTERS = 19;
/** The characters of `+05:30`. */
export const OFFSET_CHARACTERS = 6;

const ZERO = "0".charCodeAt(0);
const PLUS = "+".charCodeAt(0);
const HYPHEN = "-".charCodeAt(0);
const COLON = ":".charCodeAt(0);
const LETTER_T = "T".charCodeAt(0);

/** Result for text that is not two digits. So far below 0 that the century of a year cannot make up for it. */
const NO_PAIR = -10_000;
/** Digits after the point that count; the others are below a microsecond. */
const DECIMALS_MAX = 6;
/** Days of the months from January on, in a year without a leap day. */
const MONTH_DAYS = Uint8Array.of(31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);

/**
 * Reads the date and time of day with which a text begins, `2026-01-02T03:04:05`, as the seconds from 1970-01-01T00:00:00 to it; what follows is not
 * looked at. NaN when it begins with anything else, the year 0, a day that the month does not have, the hour 24 and the second 60 among them.
 */
export function readSeconds(text: string): number {
  const isShaped =
    text.charCodeAt(4) === HYPHEN &&
    text.charCodeAt(7) === HYPHEN &&
    text.charCodeAt(10) === LETTER_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON;
  if (!isShaped) return Number.NaN;
  const year = readPair(text, 0) * 100 + readPair(text, 2);
  const month = readPair(text, 5);
  const day = readPair(text, 8);
  const hour = readPair(text, 11);
  const minute = readPair(text, 14);
  const second = readPair(text, 17);
  const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  const isTime = hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59;
  if (!isDate || !isTime) return Number.NaN;
  return ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

/** Reads the decimals of a second, at least one digit from `from` up to `to`, as microseconds; more than six are cut. NaN for anything else. */
export function readDecimals(text: string, from: number, to: number): number {
  if (from >= to) return Number.NaN;
  let micros = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    if (at - from < DECIMALS_MAX) micros = micros * 10 + digit;
  }
  for (let digits = to - from; digits < DECIMALS_MAX; digits++) micros *= 10;
  return micros;
}

/** Reads an offset from UTC, `+05:30` or `-08:00`, at this place as seconds; NaN for anything else. */
export function readOffset(text: string, at: number): number {
  const sign = text.charCodeAt(at);
  const hours = readPair(text, at + 1);
  const minutes = readPair(text, at + 4);
  const isOffset =
    (sign === PLUS || sign === HYPHEN) &&
    text.charCodeAt(at + 3) === COLON &&
    hours >= 0 &&
    hours <= 23 &&
    minutes >= 0 &&
    minutes <= 59;
  if (!isOffset) return Number.NaN;
  const seconds = (hours * 60 + minutes) * 60;
  return sign === PLUS ? seconds : -seconds;
}

/** Reads two digits as a number, or {@link NO_PAIR}. */
function readPair(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NO_PAIR;
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : MONTH_DAYS[month - 1]!;
}

/**
 * Counts the days of the Gregorian calendar from 1970-01-01 to a day of the years from 1 on. Years begin with March, so that the leap day is the last
 * day, and the days before a month follow a straight line (Howard Hinnant, chrono-Compatible Low-Level Date Algorithms, `days_from_civil`).
 */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = month > 2 ? month - 3 : month + 9;
  const leapDays = Math.trunc(marchYear / 4) - Math.trunc(marchYear / 100) + Math.trunc(marchYear / 400);
  return marchYear * 365 + leapDays + Math.trunc((153 * marchMonth + 2) / 5) + day - 1 - 719_468;
}
