import { badRequest } from "@tidemark/errors";
import type { Schema } from "../../route.ts";
import { optional, required, withDefault, type Field } from "./field.ts";

/** Most bytes of a name, path or tag in UTF-8 (API specification, Limits). */
const TEXT_BYTES_MAX = 512;

/** What `String.prototype.trim` removes, as a class of a regular expression that means the same in every dialect. */
const WHITE = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

/** The pattern of a text without NUL. */
export const WITHOUT_NUL = "^[^\\u0000]*$";

/** Returns the pattern of a text which, after trimming, fits `pattern`. */
export function trimmedPattern(pattern: string): string {
  return `^[${WHITE}]*${pattern}[${WHITE}]*$`;
}

/** The schema of a blank text. */
export const blankSchema: Schema = { type: "string", pattern: trimmedPattern("") };

export type TextOptions = {
  /** Most bytes in UTF-8 after trimming; 512 unless said. */
  readonly bytesMax?: number;
};

/**
 * Checks one text: trimmed, not empty, at most `bytesMax` bytes of UTF-8, without NUL and without
 * lone surrogates, neither of which can be stored. `name` is how the caller knows the field.
 * @throws bad_request
 */
export function requireText(value: unknown, name: string, options: TextOptions = {}): string {
  const text = trimmed(value, name, options);
  if (text === "") throw badRequest(`${name} must not be empty`, name);
  return text;
}

function trimmed(value: unknown, name: string, options: TextOptions): string {
  const text = bounded(value, name, options);
  if (text.includes("\0") || !text.isWellFormed()) {
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  return text;
}

function bounded(value: unknown, name: string, { bytesMax = TEXT_BYTES_MAX }: TextOptions): string {
  if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
  const text = value.trim();
  // A UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw badRequest(`${name} must have at most ${bytesMax} bytes`, name);
  }
  return text;
}

/** Returns the schema of a text of at most `bytesMax` bytes after trimming. Its pattern counts characters, because a schema cannot count bytes. */
export function textInputSchema(
  { bytesMax = TEXT_BYTES_MAX }: TextOptions = {},
  blank: "refused" | "accepted" = "refused",
): Schema {
  const words = `[^${WHITE}\\u0000](?:[^\\u0000]{0,${bytesMax - 2}}[^${WHITE}\\u0000])?`;
  return boundedSchema(blank === "refused" ? words : `(?:${words})?`, bytesMax);
}

function boundedSchema(pattern: string, bytesMax: number): Schema {
  return {
    type: "string",
    pattern: trimmedPattern(pattern),
    description: `At most ${bytesMax} bytes in UTF-8, without the white space around it.`,
  };
}

/** Describes a text that must not be blank. It is read trimmed, as `requireText` does. */
export function text(options: TextOptions = {}): Field<string> {
  return required(textInputSchema(options), (value, name) => requireText(value, name, options));
}

/** Describes a text that may be blank: a blank one is read as the empty text. */
export function maybeBlankText(options: TextOptions = {}): Field<string> {
  return required(textInputSchema(options, "accepted"), (value, name) => trimmed(value, name, options));
}

const ADDRESS_PART = `[^${WHITE}@<>"(),:;\\\\[\\]\\u0000]+`;

/** The schema of a text that is one e-mail address, as the control service takes it. */
export const emailSchema: Schema = {
  type: "string",
  pattern: trimmedPattern(`${ADDRESS_PART}@${ADDRESS_PART}`),
  description: "An e-mail address of at most 254 characters.",
};

/** Describes an e-mail address. It is read as any text, because the control service judges it. */
export function email(): Field<string> {
  return { ...text(), schema: emailSchema };
}

/** Describes an optional text: the empty text when absent or blank. */
export function textOrEmpty(options: TextOptions = {}): Field<string> {
  return withDefault(maybeBlankText(options), "");
}

/** Describes a text that is searched for, trimmed and of at most 512 bytes: what cannot be stored is not found, and is not an error. */
export function searchText(): Field<string> {
  const pattern = `(?:[^${WHITE}](?:[\\s\\S]{0,${TEXT_BYTES_MAX - 2}}[^${WHITE}])?)?`;
  return required(boundedSchema(pattern, TEXT_BYTES_MAX), (value, name) => bounded(value, name, {}));
}

/** Describes an optional text: `undefined` when absent or blank. */
export function textOrAbsent(options: TextOptions = {}): Field<string | undefined> {
  const { schema, check } = maybeBlankText(options);
  return optional(required(schema, (value, name) => check(value, name) || undefined));
}

/** Describes a query parameter that is compared or searched as it was sent, not validated: the empty text when absent. */
export function queryText(schema: Schema = {}): Field<string> {
  return {
    schema: { type: "string", pattern: WITHOUT_NUL, ...schema },
    required: false,
    check: String,
    absent: () => "",
  };
}

/** Describes the query parameter `q` of a search, of any characters: what cannot be stored is not found. The empty text when absent. */
export function querySearch(description: string): Field<string> {
  return { ...queryText(), schema: { type: "string", description } };
}

/** Describes one of the given words, exactly as written. */
export function word<const V extends string>(words: readonly V[]): Field<V> {
  const { schema, check, ...rest } = required({ type: "string", enum: words }, (value, name) => {
    const found = words.find((known) => known === value);
    if (found === undefined) throw badRequest(`${name} must be one of ${words.join(", ")}`, name);
    return found;
  });
  return {
    ...rest,
    schema,
    check,
    absent: (name) => {
      throw badRequest(`${name} is required: one of ${words.join(", ")}`, name);
    },
  };
}

/**
 * Describes an optional text that the service compares with these words: the empty text when absent or blank. The schema shows the
 * words, the reader takes every text.
 */
export function wordForService(words: readonly string[], fallback?: string): Field<string> {
  const field = textOrEmpty();
  const shown = fallback === undefined ? {} : { default: fallback };
  return { ...field, schema: { type: ["string", "null"], enum: [...words, "", null], ...shown } };
}

/** A UUID in its canonical form with hyphens, in any letter case. */
export const UUID_SHAPE = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/;
const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** The schema of a UUID as `canonicalUuid` takes it. */
const uuidInputSchema: Schema = {
  type: "string",
  format: "uuid",
  pattern: UUID_SHAPE.source.replace("^", `^(?!${NIL_UUID}$)`),
};

/**
 * Returns the UUID in lower case when the text is one in its canonical form with hyphens, in any letter case;
 * `undefined` for braces, `urn:uuid:`, other forms and the nil UUID.
 */
export function canonicalUuid(value: unknown): string | undefined {
  if (typeof value !== "string" || !UUID_SHAPE.test(value)) return undefined;
  const uuid = value.toLowerCase();
  return uuid === NIL_UUID ? undefined : uuid;
}

/** Describes a UUID, which is read in lower case. */
export function uuid(): Field<string> {
  return required(uuidInputSchema, (value, name) => {
    const id = canonicalUuid(value);
    if (id === undefined) throw badRequest(`${name} must be a UUID`, name);
    return id;
  });
}

/** A switch of a query that has to be spelled exactly: `true`, or `false`, which is the default. */
export function strictFlag(description: string): Field<boolean> {
  return {
    schema: { type: "string", enum: ["true", "false"], default: "false", description },
    required: false,
    check: (value, name) => {
      if (value === "true" || value === "false") return value === "true";
      throw badRequest(`${name} must be true or false`, name);
    },
    absent: () => false,
  };
}
