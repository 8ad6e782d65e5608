import { badRequest } from "@tidemark/errors";
import { isObject, required, type Field } from "../fields/field.ts";
import { readFilter, runFilter } from "./list.ts";

/** A run filter in a body: the parameters of GET /runs as texts. */
export const bodyFilter: Field<ReturnType<typeof readFilter>> = required(
  { ...runFilter.schema, description: "The parameters of GET /runs, as texts." },
  (value, name) => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    const sent = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
    for (const [parameter, part] of sent) {
      if (typeof part !== "string" || part.includes("\0") || !part.isWellFormed())
        throw badRequest(`${parameter} of ${name} must be a text without NUL and lone surrogates`, name);
    }
    return readFilter(Object.fromEntries(sent) as Record<string, string>);
  },
);

/** Refuses a body that has both a filter and run ids, or none of them. @throws bad_request */
export function requireOneChoice({ filter, runIds }: { readonly filter: unknown; readonly runIds: unknown }): void {
  if (filter === undefined && runIds === undefined) throw badRequest("filter or run_ids is required", "filter");
  if (filter !== undefined && runIds !== undefined)
    throw badRequest("filter and run_ids exclude each other", "run_ids");
}
