import { badRequest } from "@tidemark/errors";
import type { Condition, Order } from "@tidemark/proto/artifacts/v1/query";
import { withDefault, type Field } from "../../api/fields/field.ts";
import { textOrNone, wholeNumber } from "./fields.ts";
import type { FilterClause, SortPart } from "./filter.rules.ts";

/** A field `max_results`: a default, and most; a page has at most 1,000 rows, whatever more is asked for. */
export function maxResults(usual: number, max: number): Field<number> {
  const { check } = wholeNumber(1, max);
  return withDefault(
    { ...wholeNumber(1, max), check: (value, name) => Math.min(check(value, name), PAGE_ROWS_MAX) },
    Math.min(usual, PAGE_ROWS_MAX),
  );
}

const PAGE_ROWS_MAX = 1000;

/** A field `page_token`: the cursor of a service, which refuses those of other lists. */
export const pageToken = textOrNone();

/** Reads a list of texts, which a query with one item has as a text. @throws bad_request */
export function readTexts(value: unknown, name: string): string[] {
  if (value === undefined || value === null || value === "") return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.map((item) => {
    if (typeof item !== "string") throw badRequest(`${name} must be a list of texts`, name);
    return item;
  });
}

/** How a search of a service names what MLflow names otherwise. */
export type ServiceNames = {
  /** Fields of the service by attributes of MLflow. */
  readonly fields: Readonly<Record<string, string>>;
  /** Texts of a field as the service has them; a text that is of no value there equals none. */
  readonly textOf?: (field: string, text: string) => string;
};

/** Returns a clause as a condition of a service. `isOptional`: rows without the value match as well. */
export function conditionOf(
  { kind, key, operator, texts, number }: FilterClause,
  { fields, textOf = (_field, text) => text }: ServiceNames,
  orMissing = false,
): Omit<Condition, "$typeName"> {
  const isField = kind === "attribute";
  const name = isField ? fields[key]! : key;
  return {
    of: isField ? "field" : kind,
    key: name,
    operator: operator.toLowerCase(),
    texts: texts.map((text) => (isField ? textOf(name, text) : text)),
    ...(number === undefined ? {} : { number }),
    orMissing,
  };
}

/** Returns a part of an order as a service has it. */
export function orderOf({ kind, key, isDescending }: SortPart, { fields }: ServiceNames): Omit<Order, "$typeName"> {
  const isField = kind === "attribute";
  return { of: isField ? "field" : kind, key: isField ? fields[key]! : key, descending: isDescending };
}
