import { badRequest, isAppError } from "@tidemark/errors";

/** A parsed body, an object inside it, or a query. */
export type Fields = Readonly<Record<string, unknown>>;

/** The field's value; `undefined` when it is missing or `null`. Inherited properties do not count. */
export function present(fields: Fields, name: string): unknown {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === null ? undefined : value;
}

/** A truth value, or `undefined` when absent. @throws bad_request */
export function readOptionalBoolean(fields: Fields, name: string): boolean | undefined {
  const value = present(fields, name);
  if (value === undefined || typeof value === "boolean") return value;
  throw badRequest(`${name} must be true or false`, name);
}

/** One of the given words, exactly as written, or `undefined` when absent. @throws bad_request */
export function readOptionalEnum<const V extends string>(
  fields: Fields,
  name: string,
  values: readonly V[],
): V | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  const found = values.find((known) => known === value);
  if (found === undefined) throw badRequest(`${name} must be one of ${values.join(", ")}`, name);
  return found;
}

/** Like `readOptionalEnum` for a field that must be there. @throws bad_request */
export function readRequiredEnum<const V extends string>(fields: Fields, name: string, values: readonly V[]): V {
  const value = readOptionalEnum(fields, name, values);
  if (value === undefined) throw badRequest(`${name} is required: one of ${values.join(", ")}`, name);
  return value;
}

/** An array of 0 or more values of any kind, at most `itemsMax`; `undefined` when absent. @throws bad_request */
export function readList(
  fields: Fields,
  name: string,
  options: { readonly itemsMin?: number; readonly itemsMax?: number } = {},
): readonly unknown[] | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw badRequest(`${name} must be a list`, name);
  const items: readonly unknown[] = value;
  const { itemsMin = 0, itemsMax = Number.POSITIVE_INFINITY } = options;
  if (items.length < itemsMin || items.length > itemsMax) {
    const bounds = itemsMax === Number.POSITIVE_INFINITY ? `at least ${itemsMin}` : `${itemsMin} to ${itemsMax}`;
    throw badRequest(`${name} must have ${bounds} items`, name);
  }
  return items;
}

/** The fields of `tidemark.common.v1.FieldFault`. */
export type Fault = { readonly text: string; readonly field: string };

/** What reading a body or query came to: a value, or the first fault in it. */
export type Faulty<T> =
  | { readonly value: T; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: Fault };

/**
 * Reads a body or query whose faults must wait: on routes with a row in their path a missing row
 * (404) goes before a bad request (400), so the fault travels to the service as `body_fault` or
 * `query_fault` instead of being thrown here.
 * Only `bad_request` is held back; every other error is thrown on.
 */
export function withFault<T>(read: () => T): Faulty<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (isAppError(error) && error.reason === "bad_request") {
      return { fault: { text: error.message, field: error.field ?? "" } };
    }
    throw error;
  }
}
