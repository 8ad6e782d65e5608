import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListPage, ListPageSchema } from "@tidemark/proto/artifacts/v1/versions";
import type { Json } from "../../http/json.ts";
import type { Query, Schema } from "../../route.ts";
import { object, type ObjectField } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { booleanSchema, countSchema, listSchema, objectSchema } from "../schemas.ts";

type PageQuery = ObjectField<{ limit: number; offset: number }>;

/** Describes the page of a list that is counted from its start. */
export function pageQuery(rows: { readonly default: number; readonly max: number }): PageQuery {
  return object({ limit: limit(rows), offset: offset() });
}

/** Reads such a page. @throws bad_request */
export function readListPage(page: PageQuery, query: Query): MessageInitShape<typeof ListPageSchema> {
  const { limit: rows, offset: skipped } = page.read(query);
  return { limit: rows, offset: BigInt(skipped) };
}

/** Returns the schema of an answer with a page of rows under a name. */
export function pageSchema(name: string, row: Schema): Schema {
  return objectSchema({
    [name]: listSchema(row),
    limit: countSchema,
    offset: countSchema,
    total: countSchema,
    has_more: booleanSchema,
  });
}

/** Returns the members of such an answer. `page` is what the service made of the request. */
export function pageJson(
  name: string,
  rows: readonly Json[],
  { page, total }: { readonly page?: ListPage | undefined; readonly total: bigint },
): Record<string, Json> {
  const offsetRows = Number(page?.offset ?? 0n);
  return {
    [name]: rows,
    limit: page?.limit ?? rows.length,
    offset: offsetRows,
    total: Number(total),
    has_more: offsetRows + rows.length < Number(total),
  };
}
