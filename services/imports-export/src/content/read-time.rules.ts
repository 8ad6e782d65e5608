import { badRequest } from "@tidemark/errors";
import { OFFSET_CHARACTERS, readDecimals, readOffset, readSeconds, SECONDS_CHARACTERS } from "@tidemark/instants";

/** Numbers from here on are milliseconds, smaller ones seconds. */
const MILLISECONDS_MIN = 1e10;
/** 0001-01-01 and the end of 9999, in microseconds: the range of columns of times. */
const FIRST_US = -62_135_596_800_000_000;
const LAST_US = 253_402_300_799_000_000;

/**
 * Reads a time: RFC 3339, also with a blank in the middle, without a zone (then it is UTC) and with decimals; or a number since 1970, seconds, or
 * milliseconds from 10^10 on. Null and blank texts are null. Returns microseconds since the epoch. @throws bad_request
 */
export function readTime(value: unknown, name: string): number | null {
  if (value === undefined || value === null) return null;
  const micros = typeof value === "string" ? readText(value) : readNumber(value);
  if (micros === null) return null;
  if (!(micros >= FIRST_US && micros <= LAST_US)) {
    throw badRequest(`${name} must be an RFC 3339 time, or seconds or milliseconds since 1970`, name);
  }
  return micros;
}

/** NaN for anything but a number. */
function readNumber(value: unknown): number {
  if (typeof value !== "number") return Number.NaN;
  return Math.round(Math.abs(value) >= MILLISECONDS_MIN ? value * 1000 : value * 1_000_000);
}

/** NaN for anything but a time. */
function readText(value: string): number | null {
  const trimmed = value.trim();
  if (trimmed === "") return null;
  const text = `${trimmed.slice(0, 10)}${trimmed[10] === " " || trimmed[10] === "t" ? "T" : (trimmed[10] ?? "")}${trimmed.slice(11)}`;
  const zoneAt = zoneOf(text);
  const offset = zoneAt + OFFSET_CHARACTERS === text.length ? readOffset(text, zoneAt) : 0;
  const seconds = readSeconds(text) - offset;
  if (zoneAt === SECONDS_CHARACTERS) return seconds * 1_000_000;
  if (text[SECONDS_CHARACTERS] !== ".") return Number.NaN;
  return seconds * 1_000_000 + readDecimals(text, SECONDS_CHARACTERS + 1, zoneAt);
}

/** Where the zone begins; the end of a text without one. */
function zoneOf(text: string): number {
  if (/[Zz]$/.test(text)) return text.length - 1;
  return /[+-]\d\d:\d\d$/.test(text) && text.length > SECONDS_CHARACTERS
    ? text.length - OFFSET_CHARACTERS
    : text.length;
}
