import { badRequest } from "@tidemark/errors";
import type { Query, Route, Schema } from "../route.ts";

/** Parameters by which lists say where a page begins. */
const STARTS = ["cursor", "offset"] as const;

type Names = readonly string[];
const propertiesOf = (schema: Schema | undefined): Readonly<Record<string, Schema>> =>
  (schema?.["properties"] ?? {}) as Readonly<Record<string, Schema>>;

/**
 * Returns the parameters that a list does not know although other lists are paged by them. A client that sends one would read the same page forever, or
 * take the first one for all. Empty for routes that are not lists, and for those that speak a foreign protocol.
 */
export function foreignStarts({ method, callers, protocol, schemas: { query, response } }: Route): Names {
  const known = Object.keys(propertiesOf(query));
  const hasRows = Object.values(propertiesOf(response)).some(({ type }) => type === "array");
  const isList =
    method === "GET" && callers.kind !== "anyone" && protocol === undefined && (hasRows || known.includes("limit"));
  return isList ? STARTS.filter((name) => !known.includes(name)) : [];
}

/** Refuses a query with one of these parameters. @throws bad_request */
export function refuseStarts(names: Names, query: Query): void {
  const sent = names.find((name) => query[name] !== undefined);
  if (sent === undefined) return;
  const other = STARTS.find((name) => !names.includes(name));
  throw badRequest(
    `this list has no parameter ${sent}${other === undefined ? "" : `; its pages begin at ${other}`}`,
    sent,
  );
}
