import { badRequest } from "@tidemark/errors";
import type { Query, Schema } from "../../route.ts";
import { isObject, required, type Field } from "../fields/field.ts";
import { readFilter, runFilter } from "./list.ts";

type Properties = Readonly<Record<string, Schema>>;

/** Describes parameters of a query, by the schemas of their names, as an object of texts; null and a blank text mean that one was left out. */
export function textParameters(schemas: Properties, description: string): Field<Query> {
  const properties = Object.fromEntries(
    Object.entries(schemas).map(([name, { description: of }]) => [
      name,
      { type: ["string", "null"], ...(of === undefined ? {} : { description: of }) },
    ]),
  );
  return required({ type: "object", description, properties }, (value, name) => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    const sent = Object.keys(properties).flatMap((parameter): [string, string][] => {
      const one = Object.hasOwn(value, parameter) ? value[parameter] : undefined;
      if (one === undefined || one === null) return [];
      if (typeof one !== "string") throw badRequest(`${name}.${parameter} must be a text`, name);
      return one.trim() === "" ? [] : [[parameter, one]];
    });
    return Object.fromEntries(sent);
  });
}

const filterParameters = textParameters(
  runFilter.schema["properties"] as Properties,
  "The parameters of GET /runs, as texts.",
);

/** A run filter in a body: the parameters of GET /runs as texts. */
export const bodyFilter: Field<ReturnType<typeof readFilter>> = required(filterParameters.schema, (value, name) =>
  readFilter(filterParameters.check(value, name)),
);

/** Refuses a body that has both a filter and run ids, or neither. @throws bad_request */
export function requireOneChoice({ filter, runIds }: { readonly filter: unknown; readonly runIds: unknown }): void {
  if (filter === undefined && runIds === undefined) throw badRequest("filter or run_ids is required", "filter");
  if (filter !== undefined && runIds !== undefined)
    throw badRequest("filter and run_ids exclude each other", "run_ids");
}
