import { badRequest } from "@tidemark/errors";
import { OFFSET_CHARACTERS, readDecimals, readOffset, readSeconds, SECONDS_CHARACTERS } from "@tidemark/values";
import type { SourceArtifact } from "./content.rules.ts";
import { numberOf } from "./read-fields.rules.ts";

const CHECKPOINT = /checkpoint|model|\.(?:pt|pth|ckpt|safetensors|onnx)\b/i;
const ROLLOUT = /rollout|video|\.(?:mp4|mov|webm)\b/i;

/** Guesses the type of an artifact from its name in another tracker. */
export function artifactTypeOf(type: string, name: string): SourceArtifact["type"] {
  const told = `${type} ${name}`;
  if (CHECKPOINT.test(told)) return "checkpoint";
  return ROLLOUT.test(told) ? "rollout" : "file";
}

/** Returns whether a text has at most `max` Unicode code points. */
export function hasAtMost(text: string, max: number): boolean {
  // A code point has one or two units.
  if (text.length <= max) return true;
  if (text.length > 2 * max) return false;
  let points = 0;
  for (let at = 0; at < text.length; points++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return points <= max;
}

/** Texts of numbers that are not finite, as trackers write them. */
const NOT_FINITE = new Map([
  ["nan", Number.NaN],
  ...["inf", "infinity", "+inf", "+infinity"].map((text): [string, number] => [text, Infinity]),
  ...["-inf", "-infinity"].map((text): [string, number] => [text, -Infinity]),
]);

/**
 * Reads the value of a point: a number, or the text of one that is not finite. Undefined where a tracker's JSON does not say which number it was: null, and
 * what is beyond double range. @throws bad_request
 */
export function metricValueOf(value: unknown): number | undefined {
  const number = numberOf(value);
  if (number !== undefined) return Number.isFinite(number) ? number : undefined;
  if (value === null) return undefined;
  const other = typeof value === "string" ? NOT_FINITE.get(value.trim().toLowerCase()) : undefined;
  if (other === undefined) throw badRequest("value must be a number", "value");
  return other;
}

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
