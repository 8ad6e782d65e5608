import { badRequest } from "@tidemark/errors";
import { isRawNumber } from "../../http/json.ts";
import { present, type Fields } from "./present.ts";

/** Bounds of a number, both included. */
export type Range = { readonly min?: number; readonly max?: number };

/**
 * The number behind a JSON value: a number, or one whose digits were kept as `JSON.rawJSON`.
 * `undefined` for everything else and for numbers beyond double range. `-0` becomes `0`.
 */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : undefined;
  return isRawNumber(value) ? toNumber(Number(value.rawJSON)) : undefined;
}

/** A finite number that must be there. @throws bad_request */
export function readNumber(fields: Fields, name: string, range: Range = {}): number {
  return required(readOptionalNumber(fields, name, range), name);
}

/** A finite number, or `undefined` when absent. @throws bad_request */
function readOptionalNumber(fields: Fields, name: string, range: Range = {}): number | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  const number = toNumber(value);
  if (number === undefined || !within(number, range)) {
    throw badRequest(`${name} must be a finite number${describe(range)}`, name);
  }
  return number;
}

/** A step: a finite number from 0, fractions allowed. @throws bad_request */
export function readStep(fields: Fields, name: string): number {
  return readNumber(fields, name, { min: 0 });
}

/** A step, or `undefined` when absent. @throws bad_request */
export function readOptionalStep(fields: Fields, name: string): number | undefined {
  return readOptionalNumber(fields, name, { min: 0 });
}

/** A whole number that must be there, exact (at most 2^53 - 1 away from 0). @throws bad_request */
export function readInteger(fields: Fields, name: string, range: Range = {}): number {
  return required(readOptionalInteger(fields, name, range), name);
}

/** A whole number, or `undefined` when absent. @throws bad_request */
export function readOptionalInteger(fields: Fields, name: string, range: Range = {}): number | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  const number = toNumber(value);
  if (number === undefined || !Number.isSafeInteger(number) || !within(number, range)) {
    throw badRequest(`${name} must be a whole number${describe(range)}`, name);
  }
  return number;
}

function required(value: number | undefined, name: string): number {
  if (value === undefined) throw badRequest(`${name} is required`, name);
  return value;
}

function within(value: number, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Range): boolean {
  return value >= min && value <= max;
}

/** ` from 1 to 5`, ` of at least 1`, ` of at most 5`, or nothing. */
function describe({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max}`;
}

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
