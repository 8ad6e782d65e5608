import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PageSchema } from "@tidemark/proto/control/v1/control";
import type { Query, Schema } from "../route.ts";
import { readLimit, readOffset } from "./fields/index.ts";

/** Page sizes of the account lists. */
export const ACCOUNTS_LIMIT = { default: 100, max: 1000 } as const;

/** Page sizes of the list of invitations. */
export const INVITATIONS_LIMIT = { default: 100, max: 200 } as const;

/** Reads a page counted from the start of the list. @throws bad_request */
export function readPage(
  query: Query,
  bounds: { readonly default: number; readonly max: number } = ACCOUNTS_LIMIT,
): { limit: number; offset: bigint } & MessageInitShape<typeof PageSchema> {
  return { limit: readLimit(query, bounds), offset: BigInt(readOffset(query)) };
}

/** Returns the query of a list with at most `max` rows per page. */
export function pageQuery(max: number): Readonly<Record<string, Schema>> {
  return {
    limit: { type: "integer", minimum: 1, maximum: max, default: 100 },
    offset: { type: "integer", minimum: 0, default: 0 },
  };
}
