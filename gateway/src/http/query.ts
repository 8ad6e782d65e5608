import { badRequest } from "@tidemark/errors";
import type { Query, Route, Schema } from "../route.ts";

const empty: Query = Object.freeze(Object.create(null) as Record<string, string>);

/** The search parameter of all lists: text that cannot be stored is not found, and is not an error. */
const SEARCH = "q";

/**
 * Reads a query string (`application/x-www-form-urlencoded`). Parameters without a value, or with
 * only white space, count as absent; those in `neverBlank` are refused.
 * @throws bad_request for a repeated parameter, an invalid escape, invalid UTF-8, or NUL, which only a search text may have
 */
export function parseQuery(text: string, neverBlank: readonly string[] = []): Query {
  if (text === "") return empty;
  const query = Object.create(null) as Record<string, string>;
  const seen = new Set<string>();
  for (const [name, value] of readPairs(text)) {
    if (seen.has(name)) throw badRequest(`the parameter ${name} is given twice`, name);
    seen.add(name);
    if (value.trim() !== "") query[name] = value;
    else if (neverBlank.includes(name)) throw badRequest(`the parameter ${name} must not be blank`, name);
  }
  return query;
}

/**
 * Reads the names and values of a query string, in its order.
 * @throws bad_request for an invalid escape, invalid UTF-8, or NUL, which only a search text may have
 */
export function* readPairs(text: string): Generator<readonly [name: string, value: string]> {
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = unescape(equals === -1 ? part : part.slice(0, equals), part);
    yield [name, equals === -1 ? "" : unescape(part.slice(equals + 1), name, name === SEARCH)];
  }
}

function unescape(text: string, name: string, mayHoldNul = false): string {
  try {
    const plain = decodeURIComponent(text.replaceAll("+", " "));
    if (mayHoldNul || !plain.includes("\0")) return plain;
  } catch {
    // Thrown below.
  }
  throw badRequest(`the parameter ${name.slice(0, 100)} has an invalid escape`);
}

/** Parameters by which lists say where a page begins. */
const STARTS = ["cursor", "offset"] as const;

type Names = readonly string[];
const propertiesOf = (schema: Schema | undefined): Readonly<Record<string, Schema>> =>
  (schema?.["properties"] ?? {}) as Readonly<Record<string, Schema>>;

/**
 * Returns the parameters that a list does not know although other lists are paged by them. A client that sends one would read the same page forever, or
 * take the first one for all. Empty for routes that are not lists, and for those that speak a foreign protocol.
 */
export function foreignStarts({ method, callers, protocol, dialect, schemas: { query, response } }: Route): Names {
  const known = Object.keys(propertiesOf(query));
  const hasRows = Object.values(propertiesOf(response)).some(({ type }) => type === "array");
  const isList =
    method === "GET" &&
    callers.kind !== "anyone" &&
    protocol === undefined &&
    dialect === undefined &&
    (hasRows || known.includes("limit"));
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
