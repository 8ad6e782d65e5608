import type { NonFiniteText } from "../api/run-types.ts";
import { once } from "./once.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Made once, and not before they are needed: each takes a millisecond to make, the first with a time zone ten, and a table shows a time in every row.
const fullFormat = once(() => new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "long" }));
const dayFormat = once(() => new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric" }));
const dayAndYearFormat = once(
  () => new Intl.DateTimeFormat("en-US", { month: "short", day: "numeric", year: "numeric" }),
);

/** Returns how long ago (or ahead) a time is, in the fewest words: `just now`, `5 min ago`, `in 3 d`, `Mar 4`, `Mar 4, 2024`. */
export function relativeTime(atMs: number, nowMs: number): string {
  const away = Math.abs(nowMs - atMs);
  if (away < MINUTE) return "just now";
  const unit = unitOf(away);
  if (unit === undefined) return dayOf(atMs, nowMs);
  return atMs <= nowMs ? `${unit} ago` : `in ${unit}`;
}

function unitOf(ms: number): string | undefined {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  if (ms < 14 * DAY) return `${Math.floor(ms / DAY)} d`;
  return undefined;
}

function dayOf(atMs: number, nowMs: number): string {
  const isThisYear = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear();
  return (isThisYear ? dayFormat() : dayAndYearFormat()).format(atMs);
}

/** Returns a time in full, in the time zone of the reader. */
export function absoluteTime(atMs: number): string {
  return fullFormat().format(atMs);
}

/** Returns a span of time in its two largest units: `850 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  if (ms < HOUR) return two(Math.floor(ms / MINUTE), "min", Math.floor((ms % MINUTE) / 1000), "s");
  if (ms < DAY) return two(Math.floor(ms / HOUR), "h", Math.floor((ms % HOUR) / MINUTE), "min");
  return two(Math.floor(ms / DAY), "d", Math.floor((ms % DAY) / HOUR), "h");
}

const two = (large: number, unit: string, small: number, smaller: string): string =>
  small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smaller}`;

/** Writes how long something took or is ago: its two largest units. */
export function spanWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"] as const;

/** Made when a number needs it: that takes longer than to write thousands of numbers. */
const grouping = once(() => new Intl.NumberFormat("en-US"));

/** Returns a count with its thousands apart: `12,345`. */
export function countWords(count: number): string {
  return grouping().format(count);
}

/** Returns a count with its word; `plural` is the plural form: `1 run`, `2 runs`, `3 entries`. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${countWords(count)} ${count === 1 ? word : plural}`;
}

/** Returns a size in decimal units with at most three digits: `999 B`, `1.24 MB`. */
export function byteWords(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  const digits = power === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${grouping().format(Number(value.toFixed(digits)))} ${UNITS[power]}`;
}

/** Writes a metric with at most five significant digits; non-finite values by name. */
export function metricWords(value: number | NonFiniteText | null): string {
  if (value === null) return "not finite";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en-US");
  return String(Number(value.toPrecision(5)));
}
