import { once } from "./once.ts";

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
export function metricWords(value: number | null): string {
  if (value === null) return "not finite";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString("en-US");
  return String(Number(value.toPrecision(5)));
}
