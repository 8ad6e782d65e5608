import type { Blob } from "@tidemark/blob";
import { underDeadline, underLease } from "@tidemark/work";
import { AppError, isAppError } from "@tidemark/errors";
import type { Db, Tx } from "@tidemark/pg";
import type { Log } from "@tidemark/telemetry";
import { lockCollection } from "../versions/retention.sql.ts";
import { giveUpObjects, isGivenUp } from "../objects/objects.sql.ts";
import { addStorage } from "../storage/storage.sql.ts";
import type { SentFile } from "./completion.rules.ts";
import {
  changeUploadState,
  deleteUploadFiles,
  findUpload,
  findUploadCompletion,
  listUploadFiles,
  lockUpload,
  markFileVerified,
  noteStoreUploadIds,
  renewUploadLease,
  takeUploadLease,
  type UploadFileRow,
  type UploadSessionRow,
} from "./sessions.sql.ts";
import { createOrReuseVersion } from "./store-version.ts";
import { reservedBytesOf, storePartBytesOf } from "./upload-plan.rules.ts";
import { verifyFile } from "./verify-file.ts";

/** How long a process may be silent about an upload that it verifies before another process resumes it. */
export const LEASE_SECONDS = 30;

const FILES_TOGETHER = 4;

/** Verifies uploads and turns them into versions, one job for each upload in this process. */
export type UploadJobs = {
  /** Resumes an upload whose lease this process has just taken. Rejects with the reason why it did not become a version. */
  start(orgId: string, sessionId: string): Promise<void>;
  /** Returns the job of an upload, if this process has it. */
  join(orgId: string, sessionId: string): Promise<void> | undefined;
  /** Resumes an upload that another process has left, unless a third process already does. */
  resume(orgId: string, sessionId: string): Promise<void>;
  /** Waits for the jobs of this process. */
  drain(): Promise<void>;
};

/** Dependencies of jobs. */
export type UploadJobsOptions = {
  readonly db: Db;
  readonly blob: Blob;
  readonly newId: () => string;
  readonly log: Pick<Log, "warn">;
};

/** Creates the jobs of a process. */
export function createUploadJobs(options: UploadJobsOptions): UploadJobs {
  const { db, log } = options;
  const running = new Map<string, Promise<void>>();

  const start = (orgId: string, sessionId: string): Promise<void> => {
    const name = `${orgId}/${sessionId}`;
    // Several requests may wait for it, and it continues without them.
    const job = underDeadline(undefined, () => work(options, orgId, sessionId)).finally(() => running.delete(name));
    running.set(name, job);
    job.catch((error: unknown) => {
      if (!isAppError(error)) log.warn("an upload could not be verified", { session_id: sessionId, error });
    });
    return job;
  };

  return {
    start,
    join: (orgId, sessionId) => running.get(`${orgId}/${sessionId}`),
    async resume(orgId, sessionId) {
      const isFree = await db.withTenant(orgId, (tx) => takeUploadLease(tx, orgId, sessionId, LEASE_SECONDS));
      if (isFree) await start(orgId, sessionId);
    },
    drain: async () => void (await Promise.allSettled(running.values())),
  };
}

/** Works on an upload. A failure is left to the next request or to the sweeper. Verifying a file twice does no harm, so the lease has no fence. */
async function work(options: UploadJobsOptions, orgId: string, sessionId: string): Promise<void> {
  const { db } = options;
  const renew = async (seconds: number): Promise<boolean> => {
    await db.withTenant(orgId, (tx) => renewUploadLease(tx, orgId, sessionId, seconds));
    return true;
  };
  // A stop waits for the end.
  const isStopped = (): boolean => false;
  await underLease({ seconds: LEASE_SECONDS, renew }, isStopped, async () => {
    try {
      await renew(LEASE_SECONDS);
      await verify(options, orgId, sessionId);
    } catch (error) {
      if (isGivenUp(error)) throw await endWithoutObjects(db, orgId, sessionId, error);
      if (isAppError(error) && error.reason === "bad_request") await takeBack(db, orgId, sessionId);
      throw error;
    }
  });
}

async function verify(options: UploadJobsOptions, orgId: string, sessionId: string): Promise<void> {
  const [session, files, completion] = await options.db.withTenant(orgId, async (tx) => [
    await findUpload(tx, orgId, sessionId),
    await listUploadFiles(tx, orgId, sessionId),
    await findUploadCompletion(tx, orgId, sessionId),
  ]);
  if (session === undefined || completion === undefined) return;
  const verified = await verifyAll(options, session, files, completion);
  await finish(options, session, verified);
}

/** Verifies the files that are not verified yet, and returns all entries with the objects that hold their bytes. */
async function verifyAll(
  { db, blob }: UploadJobsOptions,
  session: UploadSessionRow,
  files: readonly UploadFileRow[],
  completion: Uint8Array,
): Promise<UploadFileRow[]> {
  const { orgId, id: sessionId, partSizeBytes } = session;
  const sent = new Map((JSON.parse(Buffer.from(completion).toString()) as SentFile[]).map((file) => [file.id, file]));
  const objects = new Map<string, string>();
  // Inline ones first: their objects may be swept until they belong to the upload.
  const open = files
    .filter(({ uploadKind, verified }) => uploadKind !== null && !verified)
    .toSorted((a, b) => Number(b.uploadKind === "inline") - Number(a.uploadKind === "inline"));
  await eachOf(open, FILES_TOGETHER, async (file) => {
    try {
      const objectId = await verifyFile(blob, session, file, sent.get(file.id)!);
      await db.withTenant(orgId, (tx) => markFileVerified(tx, orgId, { sessionId, fileId: file.id, objectId }));
      objects.set(file.id, objectId);
    } catch (error) {
      if (isAppError(error) && error.reason === "bad_request" && file.storeUploadId !== null) {
        await reopen({ db, blob }, orgId, file, storePartBytesOf(file, partSizeBytes));
      }
      throw error;
    }
  });
  return files.map((file) => ({ ...file, objectId: objects.get(file.id) ?? file.objectId }));
}

/** Lets the parts of a file be sent again, when the earlier ones have already become an object. */
async function reopen(
  { db, blob }: Pick<UploadJobsOptions, "db" | "blob">,
  orgId: string,
  { objectId, storeUploadId }: UploadFileRow,
  partBytes: number,
): Promise<void> {
  const key = blob.keyOf(orgId, objectId!);
  if ((await blob.listParts(key, storeUploadId!)) !== undefined) return;
  await blob.remove(key);
  const begun = {
    objectId: objectId!,
    storeUploadId: await blob.beginParts(key, { partBytes }),
    replaced: storeUploadId,
  };
  await db.withTenant(orgId, (tx) => noteStoreUploadIds(tx, orgId, [begun]));
}

/** Lets the upload take parts again. */
async function takeBack(db: Db, orgId: string, sessionId: string): Promise<void> {
  await db.withTenant(orgId, async (tx) => {
    const session = await lockUpload(tx, orgId, sessionId);
    if (session?.state === "completing") await changeUploadState(tx, orgId, sessionId, "uploading");
  });
}

/** Ends an upload that no process resumed before its objects were swept, and returns the error that says so: it has to begin again. */
async function endWithoutObjects(db: Db, orgId: string, sessionId: string, cause: unknown): Promise<AppError> {
  await db.withTenant(orgId, async (tx) => {
    const session = await lockUpload(tx, orgId, sessionId);
    if (session?.state !== "provider_completed") return;
    await failUpload(tx, orgId, sessionId, "its bytes were not kept so long");
  });
  return new AppError("conflict", "the upload took too long and has ended; begin it again", { cause });
}

/** Turns the verified files into a version, in one transaction, unless another process has done so. */
async function finish(
  { db, newId }: UploadJobsOptions,
  { orgId, id: sessionId, collectionId }: UploadSessionRow,
  files: readonly UploadFileRow[],
): Promise<void> {
  await db.withTenant(orgId, async (tx) => {
    const session = await lockUpload(tx, orgId, sessionId);
    if (session?.state === "completing") await changeUploadState(tx, orgId, sessionId, "provider_completed");
  });
  await db.withTenant(orgId, async (tx) => {
    await lockCollection(tx, orgId, collectionId);
    const session = await lockUpload(tx, orgId, sessionId);
    if (session?.state !== "provider_completed") return;
    const { versionId, deduplicated } = await createOrReuseVersion(tx, orgId, session, files, newId);
    if (deduplicated)
      await giveUpObjects(
        tx,
        orgId,
        files.flatMap(({ objectId }) => objectId ?? []),
      );
    await changeUploadState(tx, orgId, sessionId, deduplicated ? "deduplicated" : "active", {
      resultVersionId: versionId,
    });
    await deleteUploadFiles(tx, orgId, sessionId);
    await addStorage(tx, orgId, { reservedBytes: -reservedBytesOf(files) });
  });
}

/** Works on the items, at most `together` of them at a time. The first failure is thrown after all started items have ended. */
export async function eachOf<T>(
  items: readonly T[],
  together: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined) {
      const item = items[next++]!;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(together, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
}

/** Gives an upload up that has not become a version, in a transaction that has locked it: its bytes are swept once none of its addresses is valid. */
export async function failUpload(tx: Tx, orgId: string, sessionId: string, reason: string | undefined): Promise<void> {
  const files = await listUploadFiles(tx, orgId, sessionId);
  await giveUpObjects(
    tx,
    orgId,
    files.flatMap(({ objectId }) => objectId ?? []),
  );
  await changeUploadState(tx, orgId, sessionId, "failed", reason === undefined ? {} : { reason });
  await deleteUploadFiles(tx, orgId, sessionId);
  await addStorage(tx, orgId, { reservedBytes: -reservedBytesOf(files) });
}
