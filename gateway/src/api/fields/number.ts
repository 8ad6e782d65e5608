import { badRequest } from "@tidemark/errors";
import { isExactNumber } from "@tidemark/documents";
import type { Schema } from "../../route.ts";
import { checked, object, optional, required, type Field } from "./field.ts";
import { WITHOUT_NUL } from "./text.ts";

/** Bounds of a number, both included. */
export type Range = { readonly min?: number; readonly max?: number };

/**
 * Returns the number behind a JSON value: a number, or one whose digits were kept as `JSON.rawJSON`.
 * `undefined` for everything else and for numbers beyond double range. `-0` becomes `0`.
 */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : undefined;
  return isExactNumber(value) ? toNumber(Number(value.rawJSON)) : undefined;
}

/** Describes a finite number. */
export function number(range: Range = {}): Field<number> {
  return required({ type: "number", ...bounds(range) }, (value, name) => {
    const found = toNumber(value);
    if (found === undefined || !within(found, range)) {
      throw badRequest(`${name} must be a finite number${describe(range)}`, name);
    }
    return found;
  });
}

/** Describes a step: a finite number from 0, fractions allowed. */
export function step(): Field<number> {
  return number({ min: 0 });
}

/** Describes a range of steps in a body. */
export const stepRange = checked(object({ start_step: optional(step()), end_step: optional(step()) }), checkSteps);

/** Describes a range of steps in a query. */
export const queryStepRange = checked(
  object({ start_step: queryNumber({ min: 0 }), end_step: queryNumber({ min: 0 }) }),
  checkSteps,
);

type StepRange = { readonly startStep: number | undefined; readonly endStep: number | undefined };

function checkSteps({ startStep, endStep }: StepRange): void {
  if (startStep !== undefined && endStep !== undefined && startStep > endStep) {
    throw badRequest("start_step must not be above end_step", "start_step");
  }
}

/** Describes a whole number that is exact: at most 2^53 - 1 away from 0. */
export function integer(range: Range = {}): Field<number> {
  const exact = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, ...range };
  return required({ type: "integer", ...bounds(exact) }, (value, name) => {
    const found = toNumber(value);
    if (found === undefined || !Number.isSafeInteger(found) || !within(found, range)) {
      throw badRequest(`${name} must be a whole number${describe(range)}`, name);
    }
    return found;
  });
}

function bounds({ min, max }: Range): Schema {
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
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

/** Describes a whole number in a query, in decimal digits; `undefined` when absent or blank. */
export function queryInteger(range: Range = {}): Field<number | undefined> {
  const schema = {
    type: "integer",
    ...bounds({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, ...range }),
  };
  return queryNumberOf(schema, /^-?\d{1,16}$/, Number.isSafeInteger, range, "a whole number");
}

/** Describes a finite number in a query, in JSON's notation; `undefined` when absent or blank. */
export function queryNumber(range: Range = {}): Field<number | undefined> {
  const schema = { type: "number", ...bounds(range) };
  return queryNumberOf(schema, /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/, Number.isFinite, range, "a finite number");
}

/** Describes the size of a page: a whole number from 1 to `max`, never clamped. */
export function limit(sizes: { readonly default: number; readonly max: number }): Field<number> {
  return queryOr(queryInteger({ min: 1, max: sizes.max }), sizes.default);
}

/** Describes the number of rows to skip: a whole number from 0. */
export function offset(): Field<number> {
  return queryOr(queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER }), 0);
}

/** Gives a query parameter a default, which its schema shows. */
export function queryOr<T>(field: Field<T | undefined>, value: T): Field<T> {
  return {
    schema: { ...field.schema, default: value },
    required: false,
    check: (sent, name) => field.check(sent, name) ?? value,
    absent: () => value,
  };
}

/** Describes a switch in a query: true only for the literal `true`; every other text and absence mean false. */
export function queryFlag(): Field<boolean> {
  return {
    schema: { type: "string", pattern: WITHOUT_NUL },
    required: false,
    check: (value) => value === "true",
    absent: () => false,
  };
}

function queryNumberOf(
  schema: Schema,
  shape: RegExp,
  accepts: (value: number) => boolean,
  range: Range,
  kind: string,
): Field<number | undefined> {
  return {
    schema,
    required: false,
    absent: () => undefined,
    check: (text, name) => {
      if (typeof text !== "string" || text.trim() === "") return undefined;
      const value = shape.test(text.trim()) ? Number(text) + 0 : Number.NaN;
      if (!accepts(value) || !within(value, range)) {
        throw badRequest(`${name} must be ${kind}${describe(range)}`, name);
      }
      return value;
    },
  };
}
