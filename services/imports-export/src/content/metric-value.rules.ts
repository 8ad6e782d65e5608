import { badRequest } from "@tidemark/errors";
import { numberOf } from "./read-fields.rules.ts";

const NOT_FINITE = new Set(["nan", "inf", "infinity", "+inf", "+infinity", "-inf", "-infinity"]);

/**
 * Reads the value of a point; undefined for a value that is not finite, in the forms that trackers write in JSON: null, a text, or a number out of range.
 * @throws bad_request
 */
export function metricValueOf(value: unknown): number | undefined {
  const number = numberOf(value);
  if (number !== undefined) return Number.isFinite(number) ? number : undefined;
  if (value === null || (typeof value === "string" && NOT_FINITE.has(value.trim().toLowerCase()))) return undefined;
  throw badRequest("value must be a number", "value");
}
