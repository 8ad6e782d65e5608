import { isExactNumber } from "@tidemark/values";
import type { JsonValue } from "@tidemark/import-formats";

/** Most bytes of a name, a path, a key or a tag. */
const NAME_BYTES_MAX = 512;

/** Most bytes of a console line. */
export const MESSAGE_BYTES_MAX = 16_384;

/** Returns a text without what cannot be stored, which becomes U+FFFD. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** Returns a text that can be a name: trimmed, at most 512 bytes, cut between characters; empty where nothing is left. */
export function nameOf(text: string): string {
  return cut(storable(text.trim()), NAME_BYTES_MAX).trim();
}

/** Returns a text that can be a key unchanged; undefined if it cannot, because a part of it might be the key of something else. */
export function keyOf(text: string): string | undefined {
  const key = storable(text.trim());
  return key === "" || Buffer.byteLength(key) > NAME_BYTES_MAX ? undefined : key;
}

/** Returns the beginning of a text that has this many bytes at most. */
export function cut(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

/** Returns the JSON of a value, without what cannot be stored. */
export function documentOf(value: JsonValue): string {
  return JSON.stringify(clean(value));
}

function clean(value: JsonValue): JsonValue {
  if (typeof value === "string") return storable(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (isList(value)) return value.map(clean);
  // Object.fromEntries defines members, so that a key like __proto__ stays one.
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [storable(key), clean(part)]));
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The last instant that can be written. */
const LAST_MS = 253_402_300_799_999;

/** Returns milliseconds since 1970 as whole microseconds; NaN if they are not an instant in the years 1970 to 9999. */
export function microsOf(milliseconds: number | undefined): number {
  if (milliseconds === undefined || !(milliseconds >= 0 && milliseconds <= LAST_MS)) return Number.NaN;
  return Math.round(milliseconds * 1000);
}

/** Writes microseconds since 1970 as RFC 3339. */
export function instantOf(micros: number): string {
  const seconds = Math.floor(micros / 1_000_000);
  const fraction = String(micros - seconds * 1_000_000).padStart(6, "0");
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${fraction}Z`;
}
