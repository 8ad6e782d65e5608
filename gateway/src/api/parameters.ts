import { INVITATIONS_PAGE_ROWS, PAGE_ROWS } from "@tidemark/limits";
import type { Query, RouteInput } from "../route.ts";
import { object, type ObjectField } from "./fields/field.ts";
import { limit, offset } from "./fields/number.ts";
import { canonicalUuid } from "./fields/text.ts";

type PageQuery = ObjectField<{ limit: number; offset: number }>;

/** Describes the page of a list that is counted from its start. */
export function pageQuery(rows: { readonly default: number; readonly max: number }): PageQuery {
  return object({ limit: limit(rows), offset: offset() });
}

/** The page of a list of users, organizations, keys or seats. */
export const accountsPage = pageQuery(PAGE_ROWS);

/** The page of a list of invitations. */
export const invitationsPage = pageQuery(INVITATIONS_PAGE_ROWS);

/** Reads a page counted from the start of the list. @throws bad_request */
export function readPage(page: PageQuery, query: Query): { limit: number; offset: bigint } {
  const { limit: rows, offset: skipped } = page.read(query);
  return { limit: rows, offset: BigInt(skipped) };
}

/** Returns the id in a part of the path in lower case; a text that is not a UUID stays unchanged and finds nothing. */
export function pathId({ params }: RouteInput, part: string): string {
  const text = params[part] ?? "";
  return canonicalUuid(text) ?? text;
}
