import type { ListPage } from "@tidemark/proto/artifacts/v1/versions";
import type { Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import { booleanSchema, countSchema, listSchema, objectSchema } from "../schemas.ts";

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
