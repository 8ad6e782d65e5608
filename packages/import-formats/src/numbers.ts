import { isRounded } from "@tidemark/values";
import type { Warnings } from "./warnings.ts";

/** Python's words for numbers that have no digits, in lower case. */
const words: ReadonlyMap<string, number> = new Map([
  ["nan", Number.NaN],
  ["inf", Number.POSITIVE_INFINITY],
  ["infinity", Number.POSITIVE_INFINITY],
]);

const digits = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Reads a number as Python's `float` does (without underscores); undefined if the text is not one. */
export function readPythonFloat(text: string): number | undefined {
  if (digits.test(text)) return Number(text);
  const word = words.get(text.replace(/^[+-]/, "").toLowerCase());
  return word === undefined ? undefined : text.startsWith("-") ? -word : word;
}

/** The same for a part of a point: where the double is another number than the integer that was written, that is counted. */
export function readPointFloat(text: string, key: string, warnings: Warnings): number | undefined {
  const number = readPythonFloat(text);
  if (number !== undefined && isRounded(text, number)) warnings.add("rounded_integer", `${key}: ${text}`);
  return number;
}
