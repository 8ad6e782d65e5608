import { archiveError, isArchiveError, itemsOf, membersOf, parse } from "./json-parts.ts";

/** How a value is written into a line, and read from it again. One description gives the type, the encoder and the decoder. */
export type Field<T> = {
  readonly write: (value: T) => string;
  /** @throws ArchiveError for the text of any other value */
  readonly read: (json: string) => T;
  /** The member may be missing: `undefined` then. */
  readonly optional?: true;
};

/** The type that a field is written from and read as. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

type AnyField = {
  readonly write: (value: never) => string;
  readonly read: (json: string) => unknown;
  readonly optional?: true;
};

type Shape = Readonly<Record<string, AnyField>>;

/** The members of a record. */
export type RecordOf<S> = { readonly [K in keyof S]: ValueOf<S[K]> };

function checked<T>(what: string, is: (value: unknown) => boolean): Field<T> {
  return {
    write: (value) => JSON.stringify(value),
    read: (json) => {
      const value = parse(json);
      if (!is(value)) throw archiveError(`not ${what}`);
      return value as T;
    },
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
// RFC 3339 in UTC; years as PostgreSQL and JavaScript write them.
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$/;

const isText = (value: unknown): value is string => typeof value === "string";

/** Any text. */
export const text: Field<string> = checked("a text", isText);
/** A UUID in lower case. */
export const uuid: Field<string> = checked("an id", (value) => isText(value) && UUID.test(value));
/** An instant as RFC 3339 in UTC with up to six digits of the second. */
export const instant: Field<string> = checked("an instant", (value) => isText(value) && INSTANT.test(value));
/** True or false. */
export const flag: Field<boolean> = checked("true or false", (value) => typeof value === "boolean");
/** A whole number from 0 to 2^53 - 1. */
export const whole: Field<number> = checked(
  "a whole number",
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);

/** Lower-case hexadecimal digits, this many. */
export function hex(digits: number): Field<string> {
  const form = new RegExp(`^[0-9a-f]{${digits}}$`);
  return checked(`${digits} hexadecimal digits`, (value) => isText(value) && form.test(value));
}

/** One of the given words. */
export function word<const W extends string>(words: readonly W[]): Field<W> {
  return checked("one of the known words", (value) => isText(value) && (words as readonly string[]).includes(value));
}

/** Writes a finite number so that it is read as the same double: JSON has -0, `JSON.stringify` does not write it. */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw archiveError("a number is not finite");
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A finite double. */
export const number: Field<number> = {
  write: writeNumber,
  read: checked<number>("a finite number", (value) => Number.isFinite(value)).read,
};

const LINE_BREAKS = /[\n\r]/g;

/**
 * A JSON text that keeps its digits, its escapes and the order of its members. Line breaks, which are white space there, become spaces.
 */
export const document: Field<string> = {
  write: (json) => (json.includes("\n") || json.includes("\r") ? json.replace(LINE_BREAKS, " ") : json),
  read: (json) => {
    parse(json);
    return json;
  },
};

/** A field that may be missing in a record. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return { optional: true, write: field.write as Field<T | undefined>["write"], read: field.read };
}

/** A list of at most `itemsMax` items. */
export function list<T>(field: Field<T>, itemsMax = Number.POSITIVE_INFINITY): Field<readonly T[]> {
  return {
    write: (items) => `[${items.map((item) => field.write(item)).join(",")}]`,
    read: (json) => {
      const items = itemsOf(json);
      if (items.length > itemsMax) throw archiveError(`more than ${itemsMax} items`);
      return items.map((item, i) => within(`[${i}]`, () => field.read(item)));
    },
  };
}

/** A JSON object. */
export type RecordField<T> = Field<T> & {
  /** Reads members that are split already. @throws ArchiveError */
  readonly readMembers: (members: Map<string, string>) => T;
};

/** Members in this order. Nothing else may be among them, because it would be lost. */
export function record<S extends Shape>(shape: S): RecordField<RecordOf<S>> {
  const fields = Object.entries(shape);
  const readMembers = (members: Map<string, string>) => readFields(fields, members) as RecordOf<S>;
  return {
    write: (value) => `{${writeMembers(fields, value).join(",")}}`,
    read: (json) => readMembers(membersOf(json)),
    readMembers,
  };
}

/** Returns the members that are there, each as `"name":value`. */
function writeMembers(fields: readonly [string, AnyField][], value: Readonly<Record<string, unknown>>): string[] {
  const members: string[] = [];
  for (const [name, field] of fields) {
    const member = value[name];
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${field.write(member as never)}`);
  }
  return members;
}

function readFields(fields: readonly [string, AnyField][], members: Map<string, string>): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const json = members.get(name);
    members.delete(name);
    if (json !== undefined) value[name] = within(name, () => field.read(json));
    else if (field.optional === true) value[name] = undefined;
    else throw archiveError(`${name} is missing`);
  }
  if (members.size > 0) throw archiveError("there is a member that this version does not know");
  return value;
}

/** Says where a fault is. */
function within<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isArchiveError(error)) throw error;
    throw archiveError(`${name}: ${error.message}`, error);
  }
}
