import type { Blob } from "@tidemark/blob";
import { sql, type Db } from "@tidemark/pg";
import { failUpload } from "../uploads/end-upload.ts";
import { lockUpload } from "../uploads/sessions.sql.ts";
import { lockCollection } from "../versions/lock-version.sql.ts";
import { readVersions } from "../versions/versions.sql.ts";
import { retireVersion } from "../versions/retire-version.sql.ts";
import { listDue, type Due, type DueKind, type Swept } from "./due.sql.ts";
import { purgeVersion } from "./purge-version.ts";
import { removeObject } from "./remove-object.ts";

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
