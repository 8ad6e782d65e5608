import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PageSchema } from "@tidemark/proto/control/v1/control";
import type { Query } from "../route.ts";
import { readLimit, readOffset } from "./fields.ts";

/** Page sizes of the account lists. */
export const ACCOUNTS_LIMIT = { default: 100, max: 1000 } as const;

/** Page sizes of the list of invitations. */
export const INVITATIONS_LIMIT = { default: 100, max: 200 } as const;

/** A page counted from the list's start. @throws bad_request */
export function readPage(
  query: Query,
  bounds: { readonly default: number; readonly max: number } = ACCOUNTS_LIMIT,
): { limit: number; offset: bigint } & MessageInitShape<typeof PageSchema> {
  return { limit: readLimit(query, bounds), offset: BigInt(readOffset(query)) };
}
