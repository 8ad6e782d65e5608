import { sql, type Db } from "@tidemark/pg";
import { releaseObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { lockCollection } from "../versions/lock-version.sql.ts";
import type { Due } from "./due.sql.ts";

const find = sql(
  "artifacts_find_purgeable_version",
  `SELECT collection_id AS "collectionId" FROM artifacts.versions WHERE org_id = $1 AND id = $2`,
);
const mark = sql(
  "artifacts_mark_version_purged",
  `UPDATE artifacts.versions SET purged_at = now()
   WHERE org_id = $1 AND id = $2 AND state = 'soft_deleted' AND purged_at IS NULL AND purge_after < now()
   RETURNING size_bytes AS "sizeBytes"`,
);
const takeObjects = sql(
  "artifacts_take_objects_of_version",
  `WITH had AS (
     SELECT e.id, e.object_id, e.size_bytes FROM artifacts.entries e
     WHERE e.org_id = $1 AND e.version_id = $2 AND e.object_id IS NOT NULL
   ), taken AS (
     UPDATE artifacts.entries e SET object_id = NULL FROM had WHERE e.org_id = $1 AND e.id = had.id
   )
   SELECT object_id AS "objectId", size_bytes AS "owedBytes" FROM had`,
);
const countOff = sql(
  "artifacts_count_off_purged_version",
  `UPDATE artifacts.collections SET bytes_pending_delete = bytes_pending_delete - $3 WHERE org_id = $1 AND id = $2`,
);

/** Releases the bytes of a deleted version whose grace period is over. Returns whether it was due. */
export function purgeVersion(db: Db, { orgId, id }: Due): Promise<boolean> {
  return db.withTenant(orgId, async (tx) => {
    const found = await tx.one<{ collectionId: string }>(find, [orgId, id]);
    if (found === undefined) return false;
    await lockCollection(tx, orgId, found.collectionId);
    const purged = await tx.one<{ sizeBytes: number }>(mark, [orgId, id]);
    if (purged === undefined) return false;
    const objects = await tx.rows<{ objectId: string; owedBytes: number }>(takeObjects, [orgId, id]);
    const owed = objects.reduce((sum, { owedBytes }) => sum + owedBytes, 0);
    const settled = await releaseObjects(tx, orgId, objects);
    await tx.rows(countOff, [orgId, found.collectionId, purged.sizeBytes]);
    await addStorage(tx, orgId, {
      // References count for a version and have no bytes here.
      pendingDeleteBytes: -(settled + purged.sizeBytes - owed),
      versionsPendingDelete: -1,
    });
    return true;
  });
}
