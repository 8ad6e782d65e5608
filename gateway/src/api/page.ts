import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PageSchema } from "@tidemark/proto/control/v1/control";
import { INVITATIONS_PAGE_ROWS, PAGE_ROWS } from "@tidemark/limits";
import type { Query } from "../route.ts";
import { object, type ObjectField } from "./fields/field.ts";
import { limit, offset } from "./fields/number.ts";

type PageQuery = ObjectField<{ limit: number; offset: number }>;

/** The page of a list of users, organizations, keys or seats. */
export const accountsPage: PageQuery = object({ limit: limit(PAGE_ROWS), offset: offset() });

/** The page of a list of invitations. */
export const invitationsPage: PageQuery = object({ limit: limit(INVITATIONS_PAGE_ROWS), offset: offset() });

/** Reads a page counted from the start of the list. @throws bad_request */
export function readPage(
  page: PageQuery,
  query: Query,
): { limit: number; offset: bigint } & MessageInitShape<typeof PageSchema> {
  const { limit: rows, offset: skipped } = page.read(query);
  return { limit: rows, offset: BigInt(skipped) };
}
