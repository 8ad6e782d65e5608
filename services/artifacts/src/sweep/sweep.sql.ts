import { sql, type Tx } from "@tidemark/pg";

/** A due item of an organization. */
export type Due = { readonly orgId: string; readonly id: string };

/** A statement of the worker's role, which sees due items of all organizations, oldest first. */
const due = (name: string, table: string, condition: string, since: string) =>
  sql(
    `artifacts_due_${name}`,
    `SELECT org_id AS "orgId", id FROM artifacts.${table} WHERE ${condition} ORDER BY ${since} LIMIT $1::bigint`,
  );

const UPLOADS = "state = 'uploading' AND expires_at < now()";
const LEFT = "state IN ('completing', 'provider_completed') AND verified_until < now()";
const EXPIRED = "state = 'active' AND expires_at IS NOT NULL AND expires_at < now()";
const PURGEABLE = "state = 'soft_deleted' AND purged_at IS NULL AND purge_after < now()";
const OBJECTS = "state <> 'stored' AND sweep_after < now()";
/** A repeated `complete` gets its answer for as long as repeated requests with a key get theirs. */
const ENDED = "state IN ('active', 'deduplicated', 'failed') AND created_at < now() - interval '7 days'";

const statements = {
  uploads: due("uploads", "upload_sessions", UPLOADS, "expires_at"),
  left: due("left_uploads", "upload_sessions", LEFT, "verified_until"),
  ended: due("ended_uploads", "upload_sessions", ENDED, "created_at"),
  expired: due("expired_versions", "versions", EXPIRED, "expires_at"),
  purgeable: due("purgeable_versions", "versions", PURGEABLE, "purge_after"),
  objects: due("objects", "objects", OBJECTS, "sweep_after"),
} as const;

/** Kinds of due items: uploads whose time is over, that a process has left, or that ended long ago; versions past their end or their grace period; objects. */
export type DueKind = keyof typeof statements;

/** Returns due items, oldest first. `worker` has the worker's role. */
export function listDue(worker: Tx, kind: DueKind, limit: number): Promise<Due[]> {
  return worker.rows(statements[kind], [limit]);
}

const count = sql(
  "artifacts_count_due",
  `SELECT (SELECT count(*) FROM artifacts.upload_sessions WHERE ${UPLOADS}) AS sessions,
     (SELECT count(*) FROM artifacts.versions WHERE ${EXPIRED}) AS "versionsExpired",
     (SELECT count(*) FROM artifacts.versions WHERE ${PURGEABLE}) AS "versionsPurged",
     (SELECT count(*) FROM artifacts.objects WHERE ${OBJECTS}) AS objects,
     (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.objects WHERE ${OBJECTS}) AS bytes`,
);

/** The amounts that a sweep removed, or would remove; bytes as far as they are known. */
export type Swept = {
  readonly sessions: number;
  readonly versionsExpired: number;
  readonly versionsPurged: number;
  readonly objects: number;
  readonly bytes: number;
};

/** Counts items that are due now, not those that these would make due in turn. */
export async function countDue(worker: Tx): Promise<Swept> {
  return (await worker.one<Swept>(count, []))!;
}

const deleteEnded = sql(
  "artifacts_delete_ended_upload",
  "DELETE FROM artifacts.upload_sessions WHERE org_id = $1 AND id = $2",
);

/** Deletes an upload that ended long ago. */
export async function deleteEndedUpload(tx: Tx, { orgId, id }: Due): Promise<void> {
  await tx.rows(deleteEnded, [orgId, id]);
}

const findVersion = sql(
  "artifacts_find_purgeable_version",
  `SELECT collection_id AS "collectionId" FROM artifacts.versions WHERE org_id = $1 AND id = $2`,
);
const markVersion = sql(
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

/** Returns the collection of a version, if there is such a version. */
export async function findCollectionOf(tx: Tx, { orgId, id }: Due): Promise<string | undefined> {
  return (await tx.one<{ collectionId: string }>(findVersion, [orgId, id]))?.collectionId;
}

/** Marks a deleted version whose grace period is over, and returns its size; undefined when it is not due. Its collection is locked. */
export async function markPurged(tx: Tx, { orgId, id }: Due): Promise<number | undefined> {
  return (await tx.one<{ sizeBytes: number }>(markVersion, [orgId, id]))?.sizeBytes;
}

/** Takes the objects out of the entries of a version, and returns them with their sizes. */
export function takeObjectsOf(
  tx: Tx,
  { orgId, id }: Due,
): Promise<{ readonly objectId: string; readonly owedBytes: number }[]> {
  return tx.rows(takeObjects, [orgId, id]);
}

/** Deducts the bytes of a version from what its collection has yet to delete. */
export async function countOffPurged(tx: Tx, orgId: string, collectionId: string, sizeBytes: number): Promise<void> {
  await tx.rows(countOff, [orgId, collectionId, sizeBytes]);
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

/** Marks a due object, so that no row can refer to it any more. Returns false when it is needed after all. */
export async function claimUnneeded(tx: Tx, { orgId, id }: Due): Promise<boolean> {
  return (await tx.one(claim, [orgId, id])) !== undefined;
}

/** Makes an object that will not be stored due at once. */
export async function makeUnneeded(tx: Tx, { orgId, id }: Due): Promise<void> {
  await tx.rows(discard, [orgId, id]);
}

/** Deletes the row of an object whose bytes are removed. Returns its share of the bytes of deleted things; undefined when the row is gone already. */
export async function forgetObject(tx: Tx, { orgId, id }: Due): Promise<number | undefined> {
  return (await tx.one<{ owedBytes: number }>(forget, [orgId, id]))?.owedBytes;
}
