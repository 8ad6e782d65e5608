import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DeletionSchema } from "@tidemark/proto/runs/v1/runs";

/** Returns the message field that marks a row as deleted; no field for a row that is not deleted. */
export function deletionOf(row: { readonly deleted_at: string | null; readonly purge_after: string | null }): {
  deletion?: MessageInitShape<typeof DeletionSchema>;
} {
  const { deleted_at: deletedAt, purge_after: purgeAfter } = row;
  return deletedAt === null || purgeAfter === null ? {} : { deletion: { deletedAt, purgeAfter } };
}
