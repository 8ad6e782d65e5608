import type { Blob } from "@tidemark/blob";
import { type Db, sql } from "@tidemark/pg";
import { failUpload } from "../uploads/upload-jobs.ts";
import { lockUpload } from "../uploads/sessions.sql.ts";
import { lockCollection, retireVersion } from "../versions/retention.sql.ts";
import { readVersions } from "../versions/versions.sql.ts";
import { type Due, type DueKind, listDue, type Swept } from "./due.sql.ts";
import { releaseObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";

/** Dependencies of a sweep. */
export type SweepOptions = {
  /** With the service's role. */
  readonly db: Db;
  /** With the worker's role, which sees due items of all organizations. */
  readonly workerDb: Db;
  readonly blob: Blob;
  readonly graceDays: number;
  /** Asked before each step: when true, the rest is left for the next sweep. */
  readonly isStopped?: () => boolean;
};

/** Items looked up at a time; items that one of them made due are found by the next look-up. */
const BATCH = 100;

const deleteEnded = sql(
  "artifacts_delete_ended_upload",
  "DELETE FROM artifacts.upload_sessions WHERE org_id = $1 AND id = $2",
);

/**
 * Does all due work of all organizations: fails uploads whose time is over, ends versions that expired, releases the bytes of versions after
 * their grace period, and removes unneeded objects. Each step is a transaction of its own and may be repeated, also by several processes. A
 * step that fails is left for the next sweep, and thrown at the end.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { db } = options;
  const swept = { sessions: 0, versionsExpired: 0, versionsPurged: 0, objects: 0, bytes: 0 };
  const failures: unknown[] = [];
  const each = (kind: DueKind, work: (due: Due) => Promise<void>) => eachDue(options, kind, work, failures);
  await each("uploads", async (due) => void (swept.sessions += (await endUpload(db, due)) ? 1 : 0));
  await each("expired", async (due) => void (swept.versionsExpired += (await expireVersion(options, due)) ? 1 : 0));
  await each("purgeable", async (due) => void (swept.versionsPurged += (await purgeVersion(db, due)) ? 1 : 0));
  await each("objects", async (due) => {
    const bytes = await removeObject(options, due);
    if (bytes === undefined) return;
    swept.objects += 1;
    swept.bytes += bytes;
  });
  await each("ended", ({ orgId, id }) =>
    db.withTenant(orgId, async (tx) => void (await tx.rows(deleteEnded, [orgId, id]))),
  );
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} steps of a sweep failed`);
  return swept;
}

/** Works on due items until there are none, or a whole batch has failed. */
async function eachDue(
  { workerDb, isStopped = () => false }: SweepOptions,
  kind: DueKind,
  work: (due: Due) => Promise<void>,
  failures: unknown[],
): Promise<void> {
  for (let failed = 0; !isStopped();) {
    const due = await listDue(workerDb, kind, BATCH);
    // Failed items stay due and are first again.
    if (due.length <= failed) return;
    for (const one of due.slice(failed)) {
      if (isStopped()) return;
      try {
        await work(one);
      } catch (error) {
        failures.push(error);
        failed += 1;
      }
    }
    if (due.length < BATCH || failed >= BATCH) return;
  }
}

function endUpload(db: Db, { orgId, id }: Due): Promise<boolean> {
  return db.withTenant(orgId, async (tx) => {
    const session = await lockUpload(tx, orgId, id);
    if (session?.state !== "uploading" || !session.hasExpired) return false;
    await failUpload(tx, orgId, id, "it was not completed in time");
    return true;
  });
}

function expireVersion({ db, graceDays }: SweepOptions, { orgId, id }: Due): Promise<boolean> {
  return db.withTenant(orgId, async (tx) => {
    const [found] = await readVersions(tx, orgId, [id]);
    if (found === undefined) return false;
    const { collectionId } = found;
    await lockCollection(tx, orgId, collectionId);
    const [version] = await readVersions(tx, orgId, [id]);
    if (version?.state !== "active" || version.available) return false;
    return retireVersion(tx, orgId, { collectionId, versionId: id, graceDays, reason: undefined });
  });
}

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
   SELECT object_id AS "objectId", coalesce(size_bytes, 0) AS "owedBytes" FROM had`,
);
const countOff = sql(
  "artifacts_count_off_purged_version",
  `UPDATE artifacts.collections SET bytes_pending_delete = bytes_pending_delete - $3 WHERE org_id = $1 AND id = $2`,
);

/** Releases the bytes of a deleted version whose grace period is over. Returns whether it was due. */
function purgeVersion(db: Db, { orgId, id }: Due): Promise<boolean> {
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
async function removeObject(
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
