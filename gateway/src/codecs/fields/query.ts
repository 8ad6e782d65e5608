import { badRequest } from "@tidemark/errors";
import { describe, type Range } from "./number.ts";
import { present, type Fields } from "./present.ts";

/** Page size: a whole number from 1 to `max`, `default` when absent or blank; never clamped. @throws bad_request */
export function readLimit(query: Fields, bounds: { readonly default: number; readonly max: number }): number {
  return readQueryInteger(query, "limit", { min: 1, max: bounds.max }) ?? bounds.default;
}

/** Number of rows to skip: a whole number from 0, 0 when absent. @throws bad_request */
export function readOffset(query: Fields): number {
  return readQueryInteger(query, "offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
}

/** A whole number in decimal digits, or `undefined` when absent or blank. @throws bad_request */
export function readQueryInteger(query: Fields, name: string, range: Range = {}): number | undefined {
  return readQueryValue(query, name, /^-?\d{1,16}$/, Number.isSafeInteger, range, "a whole number");
}

/** A finite number in JSON's notation, or `undefined` when absent or blank. @throws bad_request */
export function readQueryNumber(query: Fields, name: string, range: Range = {}): number | undefined {
  return readQueryValue(query, name, /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/, Number.isFinite, range, "a finite number");
}

/** True only for the literal `true`; every other text and absence mean false. */
export function readQueryBoolean(query: Fields, name: string): boolean {
  return present(query, name) === "true";
}

function readQueryValue(
  query: Fields,
  name: string,
  shape: RegExp,
  accepts: (value: number) => boolean,
  range: Range,
  kind: string,
): number | undefined {
  const text = present(query, name);
  if (typeof text !== "string" || text.trim() === "") return undefined;
  const value = shape.test(text.trim()) ? Number(text) + 0 : Number.NaN;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range;
  if (!accepts(value) || value < min || value > max) {
    throw badRequest(`${name} must be ${kind}${describe(range)}`, name);
  }
  return value;
}
