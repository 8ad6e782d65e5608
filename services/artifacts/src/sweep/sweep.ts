import type { Blob } from "@tidemark/blob";
import type { Db } from "@tidemark/pg";
import { failUpload, type UploadJobs } from "../uploads/upload-jobs.ts";
import { lockUpload } from "../uploads/sessions.sql.ts";
import { lockCollection, retireVersion } from "../versions/retention.sql.ts";
import { readVersions } from "../versions/versions.sql.ts";
import {
  claimUnneeded,
  countOffPurged,
  deleteEndedUpload,
  findCollectionOf,
  forgetObject,
  listDue,
  makeUnneeded,
  markPurged,
  takeObjectsOf,
  type Due,
  type DueKind,
  type Swept,
  countDue,
} from "./sweep.sql.ts";
import { releaseObjects } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { type Rounds, startRounds } from "@tidemark/work";
import type { Log } from "@tidemark/telemetry";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";

/** Dependencies of a sweep. */
type SweepOptions = {
  /** With the service's role. */
  readonly db: Db;
  /** With the worker's role, which sees due items of all organizations. */
  readonly workerDb: Db;
  readonly blob: Blob;
  readonly graceDays: number;
  /** Asked before each step: when true, the rest is left for the next sweep. */
  readonly isStopped?: () => boolean;
};

/** How often a process looks for uploads that another process left while verifying them. */
const TAKE_OVER_MS = 5000;
const TAKEN_OVER_TOGETHER = 10;

/** Dependencies of a sweeper. */
type SweeperOptions = Omit<SweepOptions, "isStopped"> & {
  readonly jobs: Pick<UploadJobs, "resume">;
  readonly sweepSeconds: number;
  readonly log: Pick<Log, "info" | "warn">;
};

/** Sweeps from time to time, and resumes uploads that a process has left. `stop` ends it after the current step. */
export function startSweeper(options: SweeperOptions): Pick<Rounds, "stop"> {
  const { workerDb, jobs, log, sweepSeconds } = options;
  const onError = (error: unknown): void =>
    log.warn("artifacts could not be swept; the next round tries again", { error });
  const sweeps = startRounds({
    everyMs: sweepSeconds * 1000,
    async round(isStopped) {
      const swept = await sweep({ ...options, isStopped });
      if (!Object.values(swept).some((count) => count > 0)) return;
      const { sessions, versionsExpired, versionsPurged, objects, bytes } = swept;
      log.info("artifacts are swept", {
        sessions,
        versions_expired: versionsExpired,
        versions_purged: versionsPurged,
        objects,
        bytes,
      });
    },
    onError,
  });
  const takeovers = startRounds({
    everyMs: TAKE_OVER_MS,
    async round(isStopped) {
      for (const { orgId, id } of await listDue(workerDb, "left", TAKEN_OVER_TOGETHER)) {
        // The job reports why it failed, to the client that asks for it or in the log; the next round looks again.
        if (!isStopped()) await jobs.resume(orgId, id).catch(() => {});
      }
    },
    onError,
  });
  return { stop: async () => void (await Promise.all([sweeps.stop(), takeovers.stop()])) };
}

/** Sweeps now, or with `dry_run` only counts what is due. @throws service_unavailable */
export function sweepNow(deps: ArtifactsDeps): ArtifactsHandlers["sweep"] {
  return async ({ dryRun }) => {
    const { sessions, versionsExpired, versionsPurged, objects, bytes } = dryRun
      ? await countDue(deps.workerDb)
      : await sweep(deps);
    return {
      sessions: BigInt(sessions),
      versionsExpired: BigInt(versionsExpired),
      versionsPurged: BigInt(versionsPurged),
      objects: BigInt(objects),
      bytes: BigInt(bytes),
    };
  };
}

/** Items looked up at a time; items that one of them made due are found by the next look-up. */
const BATCH = 100;

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
  await each("ended", (due) => db.withTenant(due.orgId, (tx) => deleteEndedUpload(tx, due)));
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

/** Releases the bytes of a deleted version whose grace period is over. Returns whether it was due. */
function purgeVersion(db: Db, due: Due): Promise<boolean> {
  const { orgId } = due;
  return db.withTenant(orgId, async (tx) => {
    const collectionId = await findCollectionOf(tx, due);
    if (collectionId === undefined) return false;
    await lockCollection(tx, orgId, collectionId);
    const sizeBytes = await markPurged(tx, due);
    if (sizeBytes === undefined) return false;
    const objects = await takeObjectsOf(tx, due);
    const owed = objects.reduce((sum, { owedBytes }) => sum + owedBytes, 0);
    const settled = await releaseObjects(tx, orgId, objects);
    await countOffPurged(tx, orgId, collectionId, sizeBytes);
    await addStorage(tx, orgId, {
      // References count for a version and have no bytes here.
      pendingDeleteBytes: -(settled + sizeBytes - owed),
      versionsPendingDelete: -1,
    });
    return true;
  });
}

/**
 * Removes the bytes of an unneeded object, then its row; its share of the bytes of deleted things is deducted in the same transaction.
 * After a crash in between, the removal is repeated. Returns how many bytes the store had, undefined when the object is needed after all or gone already.
 * @throws service_unavailable
 */
async function removeObject(
  { db, blob }: { readonly db: Db; readonly blob: Blob },
  due: Due,
): Promise<number | undefined> {
  const { orgId, id } = due;
  // From here on, no row can refer to it.
  if (!(await db.withTenant(orgId, (tx) => claimUnneeded(tx, due)))) return undefined;
  const key = blob.keyOf(orgId, id);
  const entry = await blob.head(key);
  await blob.remove(key);
  return db.withTenant(orgId, async (tx) => {
    const owedBytes = await forgetObject(tx, due);
    if (owedBytes === undefined) return undefined;
    if (owedBytes > 0) await addStorage(tx, orgId, { pendingDeleteBytes: -owedBytes });
    return entry?.sizeBytes ?? 0;
  });
}

/**
 * Removes an object that was written and will not be stored, and that no address leads to. If the store does not answer now, the next sweep removes
 * it.
 */
export async function discardObject(deps: { readonly db: Db; readonly blob: Blob }, object: Due): Promise<void> {
  await deps.db.withTenant(object.orgId, (tx) => makeUnneeded(tx, object));
  await removeObject(deps, object).catch(() => {});
}
