import { badRequest, isAppError } from "@tidemark/errors";
import { isExactNumber } from "@tidemark/documents";
import type { Schema } from "../../route.ts";

/** A parsed body, an object inside it, or a query. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Describes one field of a body or query: how to read it, and the JSON Schema that says the same. A field that is `null`
 * counts as absent, unknown fields are ignored (API specification, Errors; field rules). Faults are `bad_request`
 * with a text for the caller and the field's name.
 */
export type Field<T> = {
  /** The schema of what may be sent. */
  readonly schema: Schema;
  readonly required: boolean;
  /** Reads a value that is not null. @throws bad_request */
  readonly check: (value: unknown, name: string) => T;
  /** Returns what an absent field means. @throws bad_request where it is required */
  readonly absent: (name: string) => T;
};

/** The value that a field is read as. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

/** Returns the field's value; `undefined` when it is missing or `null`. Inherited properties do not count. */
export function present(fields: Fields, name: string): unknown {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === null ? undefined : value;
}

/** Reads a field. @throws bad_request */
export function readField<T>(field: Field<T>, fields: Fields, name: string): T {
  return readValue(field, present(fields, name), name);
}

/**
 * Reads a field by what an object has under its name: undefined and null are absent. Where thousands of objects have the same field, the caller that
 * spells the name out, `fields["step"]`, gets the value many times faster. The name must not be one that all objects inherit.
 * @throws bad_request
 */
export function readValue<T>(field: Field<T>, value: unknown, name: string): T {
  return value === undefined || value === null ? field.absent(name) : field.check(value, name);
}

/** Describes a field that must be present. */
export function required<T>(schema: Schema, check: Field<T>["check"]): Field<T> {
  return {
    schema,
    required: true,
    check,
    absent: (name) => {
      throw badRequest(`${name} is required`, name);
    },
  };
}

/** Makes a field optional: `undefined` when absent. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return withDefault<T | undefined>(field, undefined);
}

/** Makes a field optional: `value` when absent. The schema shows the default only where `more` names it. */
export function withDefault<T>(field: Field<T>, value: T, more: Schema = {}): Field<T> {
  return { schema: { ...orNull(field.schema), ...more }, required: false, check: field.check, absent: () => value };
}

/** Adds a description, and anything else that the schema should say. */
export function described<T>(field: Field<T>, description: string, more: Schema = {}): Field<T> {
  const before = field.schema["description"];
  const all = typeof before === "string" ? `${description} ${before}` : description;
  return { ...field, schema: { ...field.schema, description: all, ...more } };
}

function orNull(schema: Schema): Schema {
  const { type, format, description, enum: words } = schema;
  // Some tools ignore a format next to several types.
  if (format !== undefined) {
    const { description: _description, ...value } = schema;
    return { anyOf: [value, { type: "null" }], ...(description === undefined ? {} : { description }) };
  }
  return {
    ...schema,
    ...(type === undefined ? {} : { type: [...new Set([type, "null"].flat())] }),
    ...(Array.isArray(words) ? { enum: [...new Set([...(words as unknown[]), null])] } : {}),
  };
}

/** `owner_user_id` becomes `ownerUserId`, the name of the message field. */
type Camel<S extends string> = S extends `${infer H}_${infer T}` ? `${H}${Capitalize<Camel<T>>}` : S;

/** Describes an object: a body, a query, or a part of them. */
export type ObjectField<T> = Field<T> & {
  /** Reads the fields in the order in which they are described. @throws bad_request for the first fault */
  readonly read: (fields: Fields) => T;
};

/**
 * Describes an object by its fields under their wire names. It is read as an object with the names of message fields, in
 * camel case. `more` adds to the schema: conditions between fields, which the caller has to check.
 */
export function object<const F extends Readonly<Record<string, Field<unknown>>>>(
  fields: F,
  more: Schema = {},
): ObjectField<{ [K in keyof F & string as Camel<K>]: ValueOf<F[K]> }> {
  type Value = { [K in keyof F & string as Camel<K>]: ValueOf<F[K]> };
  const readers = Object.entries(fields).map(([name, field]) => ({ name, field, property: camel(name) }));
  const requiredNames = readers.filter(({ field }) => field.required).map(({ name }) => name);
  const read = (from: Fields): Value => {
    const value: Record<string, unknown> = {};
    for (const { name, field, property } of readers) value[property] = readField(field, from, name);
    return value as Value;
  };
  const schema = {
    type: "object",
    ...(requiredNames.length === 0 ? {} : { required: requiredNames }),
    properties: Object.fromEntries(readers.map(({ name, field }) => [name, field.schema])),
    ...more,
  };
  return objectField(schema, read);
}

/** Describes an object with the fields of both, those of the first one read first. */
export function join<A, B>(first: ObjectField<A>, second: ObjectField<B>): ObjectField<A & B> {
  const [a, b] = [first.schema, second.schema].map(({ properties = {}, required: names = [], ...rest }) => ({
    properties: properties as object,
    names: names as readonly string[],
    rest,
  })) as [Parts, Parts];
  const names = [...a.names, ...b.names];
  const schema = {
    ...a.rest,
    ...b.rest,
    ...(names.length === 0 ? {} : { required: names }),
    properties: { ...a.properties, ...b.properties },
  };
  return objectField(schema, (from) => ({ ...first.read(from), ...second.read(from) }));
}

type Parts = { readonly properties: object; readonly names: readonly string[]; readonly rest: Schema };

/** Adds a check of the fields together, which `more` describes as far as a schema can. */
export function checked<T>(field: ObjectField<T>, check: (value: T) => void, more: Schema = {}): ObjectField<T> {
  return objectField({ ...field.schema, ...more }, (from) => {
    const value = field.read(from);
    check(value);
    return value;
  });
}

function objectField<T>(schema: Schema, read: (fields: Fields) => T): ObjectField<T> {
  const check = (value: unknown, name: string): T => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    return read(value);
  };
  return { ...required(schema, check), read };
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns whether a value is a JSON object: not a list, and not a number with kept digits. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** The condition that an object has at least one of these fields. */
export function someOf(...names: readonly string[]): Schema {
  return { anyOf: names.map((name) => ({ required: [name], properties: { [name]: { not: { type: "null" } } } })) };
}

/** The bounds of a list. */
export type ListBounds = { readonly itemsMin?: number; readonly itemsMax?: number };

/** Describes a list whose items `readItem` reads. */
export function listOf<T>(
  itemSchema: Schema,
  bounds: ListBounds,
  readItem: (item: unknown, name: string, index: number) => T,
): Field<T[]> {
  return required(listSchema(itemSchema, bounds), (value, name) =>
    checkList(value, name, bounds).map((item, i) => readItem(item, name, i)),
  );
}

/** Describes a list. The text of a fault names the item, its `field` the list. */
export function list<T>(item: Field<T>, bounds: ListBounds = {}): Field<T[]> {
  return listOf(item.schema, bounds, (value, name) => {
    try {
      return item.check(value, `${name} item`);
    } catch (error) {
      throw isAppError(error) ? badRequest(error.message, name) : error;
    }
  });
}

/** Describes a list of objects. The text of a fault begins with the list's name and the item's index, its `field` is the list. */
export function indexedList<T>(
  itemSchema: Schema,
  bounds: ListBounds,
  readItem: (item: unknown, index: number) => T,
): Field<T[]> {
  return listOf(itemSchema, bounds, (item, name, i) => {
    try {
      return readItem(item, i);
    } catch (error) {
      throw faultOfItem(error, name, i);
    }
  });
}

/** Returns the fault of an item as a fault of its list. */
export function faultOfItem(error: unknown, name: string, index: number): unknown {
  return isAppError(error) ? badRequest(`${name}[${index}]: ${error.message}`, name) : error;
}

function listSchema(items: Schema, { itemsMin, itemsMax }: ListBounds): Schema {
  return {
    type: "array",
    items,
    ...(itemsMin === undefined ? {} : { minItems: itemsMin }),
    ...(itemsMax === undefined ? {} : { maxItems: itemsMax }),
  };
}

/** Returns the items of a list within its bounds. @throws bad_request */
export function checkList(value: unknown, name: string, bounds: ListBounds): readonly unknown[] {
  if (!Array.isArray(value)) throw badRequest(`${name} must be a list`, name);
  const items: readonly unknown[] = value;
  const { itemsMin = 0, itemsMax = Number.POSITIVE_INFINITY } = bounds;
  if (items.length < itemsMin || items.length > itemsMax) {
    const range = itemsMax === Number.POSITIVE_INFINITY ? `at least ${itemsMin}` : `${itemsMin} to ${itemsMax}`;
    throw badRequest(`${name} must have ${range} items`, name);
  }
  return items;
}

/** Describes a truth value. */
export function boolean(): Field<boolean> {
  return required({ type: "boolean" }, (value, name) => {
    if (typeof value === "boolean") return value;
    throw badRequest(`${name} must be true or false`, name);
  });
}

/** The fields of `tidemark.common.v1.FieldFault`. */
export type Fault = { readonly text: string; readonly field: string };

/** The outcome of reading a body or query: a value or the first fault. */
export type Parsed<T> =
  | { readonly value: T; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: Fault };

/**
 * Reads a body or query whose faults must wait: on routes with a row in their path a missing row
 * (404) takes precedence over a bad request (400), so the fault travels to the service as `body_fault` or
 * `query_fault` instead of being thrown here.
 * Only `bad_request` is held back; every other error is thrown.
 */
export function withFault<T>(read: () => T): Parsed<T> {
  try {
    return { value: read() };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** Returns the fault that waits for the row. @throws every error with another reason */
export function faultOf(error: unknown): Fault {
  if (isAppError(error) && error.reason === "bad_request") return { text: error.message, field: error.field ?? "" };
  throw error;
}
