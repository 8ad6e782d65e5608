import { badRequest } from "@tidemark/errors";
import { nonFiniteOf } from "@tidemark/values";
import { checkList, isObject, object, optional, required, withDefault, type Field } from "../../api/fields/field.ts";
import { MLFLOW_LIMITS } from "./limits.ts";

/** Fields of messages of MLflow, which has no schema of ours: clients do not know it. */
const anything = {};

const storable = (text: string): string => text.replaceAll("\0", "\uFFFD").toWellFormed();

/** Returns the first `charactersMax` characters of a text. */
function cut(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  let end = 0;
  for (let count = 0; count < charactersMax && end < text.length; count++)
    end += text.codePointAt(end)! > 0xff_ff ? 2 : 1;
  return text.slice(0, end);
}

/** A text as it was sent, but that NUL and lone surrogates become U+FFFD; a longer one is cut. */
export function anyText(charactersMax = Number.POSITIVE_INFINITY): Field<string> {
  return required(anything, (value, name) => {
    if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
    return cut(storable(value), charactersMax);
  });
}

/** An optional text: undefined when absent or empty, which are the same to MLflow. */
export function textOrNone(): Field<string | undefined> {
  const { check } = anyText();
  return optional(required(anything, (value, name) => check(value, name) || undefined));
}

const keyShape = /^[\p{L}\p{N}\p{M}_./ :-]+$/u;

/** A key of a metric, parameter or tag: a path of letters of any alphabet, digits and some signs. */
export const key: Field<string> = required(anything, (value, name) => {
  if (typeof value !== "string" || value === "") throw badRequest(`${name} must be a text that is not empty`, name);
  if (cut(value, MLFLOW_LIMITS.keyCharacters) !== value)
    throw badRequest(`${name} must have at most ${MLFLOW_LIMITS.keyCharacters} characters`, name);
  if (!keyShape.test(value))
    throw badRequest(
      `${name} may have letters, digits, underscores, dashes, periods, spaces, colons and slashes`,
      name,
    );
  if (value.split("/").some((part) => part === "" || part === "." || part === ".."))
    throw badRequest(`${name} must not have parts that are empty, "." or ".."`, name);
  if (Buffer.byteLength(value) > KEY_BYTES_MAX)
    throw badRequest(`${name} must have at most ${KEY_BYTES_MAX} bytes`, name);
  return value;
});

/** As keys of the product. */
const KEY_BYTES_MAX = 512;

/** A whole number in these bounds, as a number or as text. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Field<number> {
  return required(anything, (value, name) => {
    const isText = typeof value === "string" && /^-?\d{1,20}$/.test(value);
    const number = isText ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
    throw badRequest(`${name} must be a whole number from ${min} to ${max}`, name);
  });
}

/** 9999-12-31, in milliseconds since 1970. */
const TIME_MAX = 253_402_300_799_999;

/** A time in milliseconds since 1970. */
export const time = wholeNumber(0, TIME_MAX);

/** A time; undefined when absent or 0, which are the same to MLflow. */
export const timeOrNone: Field<number | undefined> = optional(
  required(anything, (value, name) => time.check(value, name) || undefined),
);

/** The step of a point. */
export const step = withDefault(wholeNumber(0), 0);

const numberShape = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A double: a number, or its text; NaN and infinities as texts or bare tokens. */
export const double: Field<number> = required(anything, (value, name) => {
  const number = typeof value === "string" && numberShape.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return number;
  const other = nonFiniteOf(value);
  if (other !== undefined) return other;
  throw badRequest(`${name} must be a number within double range`, name);
});

/** A list of messages, which `read` reads; none when absent. A query has a list of one as its item. */
export function messages<T>(itemsMax: number, read: (item: Readonly<Record<string, unknown>>) => T): Field<T[]> {
  return withDefault(
    required<T[]>(anything, (value, name) =>
      checkList(value, name, { itemsMax }).map((item) => {
        if (!isObject(item)) throw badRequest(`${name} must be a list of objects`, name);
        return read(item);
      }),
    ),
    [],
  );
}

/** The value of a tag or parameter that has none is the empty text. */
const valueOf = (charactersMax: number): Field<string> => withDefault(anyText(charactersMax), "");

/** A parameter. */
export const param = object({ key, value: valueOf(MLFLOW_LIMITS.paramCharacters) });

/** A tag of a run. */
export const tag = object({ key, value: valueOf(MLFLOW_LIMITS.tagCharacters) });

/** A tag of an experiment, which is refused where it is longer. */
export const experimentTag = object({
  key,
  value: withDefault(
    required<string>(anything, (value, name) => {
      const text = anyText().check(value, name);
      if (cut(text, MLFLOW_LIMITS.experimentTagCharacters) === text) return text;
      throw badRequest(`${name} must have at most ${MLFLOW_LIMITS.experimentTagCharacters} characters`, name);
    }),
    "",
  ),
});

/** Reads a name of an experiment or a run: trimmed, at most 512 bytes. @throws bad_request */
export function requireName(value: string | undefined, name: string): string {
  const text = value?.trim() ?? "";
  if (text === "") throw badRequest(`${name} must not be empty`, name);
  if (Buffer.byteLength(text) > KEY_BYTES_MAX)
    throw badRequest(`${name} must have at most ${KEY_BYTES_MAX} bytes`, name);
  return text;
}
