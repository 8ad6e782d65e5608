import type { Blob } from "@tidemark/blob";
import { sql, type Db } from "@tidemark/pg";
import { addStorage } from "../storage/storage.sql.ts";
import type { Due } from "./due.sql.ts";

const claim = sql(
  "artifacts_claim_unneeded_object",
  `UPDATE artifacts.objects SET state = 'unneeded'
   WHERE org_id = $1 AND id = $2 AND state <> 'stored' AND sweep_after < now() RETURNING true`,
);
const discard = sql(
  "artifacts_discard_object",
  `UPDATE artifacts.objects SET state = 'unneeded', sweep_after = '-infinity' WHERE org_id = $1 AND id = $2 AND state = 'arriving'`,
);
const forget = sql(
  "artifacts_forget_object",
  `DELETE FROM artifacts.objects WHERE org_id = $1 AND id = $2 AND state = 'unneeded' RETURNING owed_bytes AS "owedBytes"`,
);

/**
 * Removes the bytes of an unneeded object, then its row; its share of the bytes of deleted things is deducted in the same transaction.
 * After a crash in between, the removal is repeated. Returns how many bytes the store had, undefined when the object is needed after all or gone already.
 * @throws service_unavailable
 */
export async function removeObject(
  { db, blob }: { readonly db: Db; readonly blob: Blob },
  { orgId, id }: Due,
): Promise<number | undefined> {
  // From here on, no row can refer to it.
  const claimed = await db.withTenant(orgId, (tx) => tx.one(claim, [orgId, id]));
  if (claimed === undefined) return undefined;
  const key = blob.keyOf(orgId, id);
  const entry = await blob.head(key);
  await blob.remove(key);
  return db.withTenant(orgId, async (tx) => {
    const forgotten = await tx.one<{ owedBytes: number }>(forget, [orgId, id]);
    if (forgotten === undefined) return undefined;
    if (forgotten.owedBytes > 0) await addStorage(tx, orgId, { pendingDeleteBytes: -forgotten.owedBytes });
    return entry?.sizeBytes ?? 0;
  });
}

/**
 * Removes an object that was written and will not be stored, and that no address leads to. If the store does not answer now, the next sweep removes
 * it.
 */
export async function discardObject(deps: { readonly db: Db; readonly blob: Blob }, object: Due): Promise<void> {
  const { orgId, id } = object;
  await deps.db.withTenant(orgId, (tx) => tx.rows(discard, [orgId, id]));
  await removeObject(deps, object).catch(() => {});
}
