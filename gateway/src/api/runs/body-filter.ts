import { badRequest } from "@tidemark/errors";
import type { Query, Schema } from "../../route.ts";
import { isObject, required, type Field } from "../fields/field.ts";
import { canonicalUuid, trimmedPattern, UUID_SHAPE } from "../fields/text.ts";
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

const ID = `(?!0{8}-0{4}-0{4}-0{4}-0{12})${UUID_SHAPE.source.slice(1, -1)}`;

/** Describes ids of 1 to `max` different runs in a query, separated by commas; they are read in their order, repeated ones once. */
export function runIdList(max: number, description: string): Field<readonly string[] | undefined> {
  const check = (value: unknown, name: string): string[] => {
    const parts = String(value)
      .split(",")
      .map((part) => part.trim());
    const found = new Set(parts.filter((part) => part !== "").map((part) => requireUuid(part, name)));
    if (found.size === 0) throw badRequest("run_ids is required", "run_ids");
    if (found.size > max) {
      throw badRequest(`${name} may name at most ${max} runs`, name);
    }
    return [...found];
  };
  const one = trimmedPattern(ID).slice(1, -1);
  const none = trimmedPattern("").slice(1, -1);
  const schema = { type: "string", pattern: `^(?:${none},)*${one}(?:,(?:${one}|${none}))*$`, description };
  return { schema, required: false, check, absent: () => undefined };
}

function requireUuid(part: string, name: string): string {
  const id = canonicalUuid(part);
  if (id === undefined) throw badRequest(`${name} must be UUIDs, separated by commas`, name);
  return id;
}
