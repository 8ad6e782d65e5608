import { sql, type Tx } from "@tidemark/pg";
import type { UploadKind } from "./upload-plan.rules.ts";

/** The states of an upload (ADR 21). */
export type UploadState = "uploading" | "completing" | "provider_completed" | "active" | "deduplicated" | "failed";

/** An upload of a version. Instants are RFC 3339 texts. */
export type UploadSessionRow = {
  readonly orgId: string;
  readonly id: string;
  readonly runId: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly versionId: string;
  /** 64 hexadecimal digits. */
  readonly digest: string;
  readonly aliases: readonly string[];
  readonly ttlDays: number | null;
  readonly sourceStep: number | null;
  readonly partSizeBytes: number;
  readonly state: UploadState;
  readonly expiresAt: string;
  readonly hasExpired: boolean;
  /** Whether a process is verifying it. */
  readonly isLeased: boolean;
  readonly resultVersionId: string | null;
};

/** A file of an upload. Entries without bytes have no upload kind. */
export type UploadFileRow = {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly referenceUri: string | null;
  readonly uploadKind: UploadKind | null;
  readonly partCount: number;
  readonly objectId: string | null;
  readonly storeUploadId: string | null;
  readonly verified: boolean;
};

/** The columns of an upload `s`. */
export const SESSION = `s.org_id AS "orgId", s.id, s.run_id AS "runId", s.project_id AS "projectId",
  s.collection_id AS "collectionId", s.version_id AS "versionId", encode(s.digest, 'hex') AS digest, s.aliases,
  s.ttl_days AS "ttlDays", s.source_step AS "sourceStep", s.part_size_bytes AS "partSizeBytes", s.state,
  s.expires_at AS "expiresAt", s.expires_at <= now() AS "hasExpired",
  coalesce(s.verified_until > now(), false) AS "isLeased", s.result_version_id AS "resultVersionId"`;

const insertSession = sql(
  "artifacts_insert_upload_session",
  `INSERT INTO artifacts.upload_sessions AS s (org_id, id, run_id, project_id, collection_id, version_id, digest, aliases,
     ttl_days, source_step, part_size_bytes, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + $12 * interval '1 second')
   RETURNING ${SESSION}`,
);

const insertFiles = sql(
  "artifacts_insert_upload_files",
  `INSERT INTO artifacts.upload_files (org_id, session_id, id, path, kind, size_bytes, sha256, mime_type, reference_uri,
     upload_kind, part_count, object_id)
   SELECT $1, $2, f.id, f.path, f.kind, f.size_bytes, decode(f.sha256, 'hex'), f.mime_type, f.reference_uri, f.upload_kind,
          f.part_count, f.object_id
   FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[],
               $11::integer[], $12::uuid[])
     AS f (id, path, kind, size_bytes, sha256, mime_type, reference_uri, upload_kind, part_count, object_id)`,
);

/** The content of a new upload. */
export type NewUploadSession = Pick<
  UploadSessionRow,
  "id" | "runId" | "projectId" | "collectionId" | "versionId" | "aliases" | "ttlDays" | "sourceStep" | "partSizeBytes"
> & { readonly digest: Uint8Array; readonly lifeSeconds: number };

/** Stores a new upload with its files. */
export async function insertUpload(
  tx: Tx,
  orgId: string,
  session: NewUploadSession,
  files: readonly Omit<UploadFileRow, "storeUploadId" | "verified">[],
): Promise<UploadSessionRow> {
  const row = await tx.one<UploadSessionRow>(insertSession, [
    orgId,
    session.id,
    session.runId,
    session.projectId,
    session.collectionId,
    session.versionId,
    session.digest,
    session.aliases,
    session.ttlDays,
    session.sourceStep,
    session.partSizeBytes,
    session.lifeSeconds,
  ]);
  await tx.rows(insertFiles, [
    orgId,
    session.id,
    files.map(({ id }) => id),
    files.map(({ path }) => path),
    files.map(({ kind }) => kind),
    files.map(({ sizeBytes }) => sizeBytes),
    files.map(({ sha256 }) => sha256),
    files.map(({ mimeType }) => mimeType),
    files.map(({ referenceUri }) => referenceUri),
    files.map(({ uploadKind }) => uploadKind),
    files.map(({ partCount }) => partCount),
    files.map(({ objectId }) => objectId),
  ]);
  return row!;
}

const findSession = sql(
  "artifacts_find_upload_session",
  `SELECT ${SESSION} FROM artifacts.upload_sessions s WHERE s.org_id = $1 AND s.id = $2`,
);
const lockSession = sql(
  "artifacts_lock_upload_session",
  `SELECT ${SESSION} FROM artifacts.upload_sessions s WHERE s.org_id = $1 AND s.id = $2 FOR UPDATE`,
);

/** Returns an upload of the organization, whether or not its run is deleted. */
export function findUpload(tx: Tx, orgId: string, sessionId: string): Promise<UploadSessionRow | undefined> {
  return tx.one(findSession, [orgId, sessionId]);
}

/** The same, locked until the end of the transaction. */
export function lockUpload(tx: Tx, orgId: string, sessionId: string): Promise<UploadSessionRow | undefined> {
  return tx.one(lockSession, [orgId, sessionId]);
}

const findCompletion = sql(
  "artifacts_find_upload_completion",
  "SELECT completion FROM artifacts.upload_sessions WHERE org_id = $1 AND id = $2",
);

/** Returns the data that `complete` got, which may be megabytes, while the upload is being verified. */
export async function findUploadCompletion(tx: Tx, orgId: string, sessionId: string): Promise<Uint8Array | undefined> {
  return (await tx.one<{ completion: Uint8Array | null }>(findCompletion, [orgId, sessionId]))?.completion ?? undefined;
}

const filesOf = (
  condition: string,
): string => `SELECT f.id, f.path, f.kind, f.size_bytes AS "sizeBytes", encode(f.sha256, 'hex') AS sha256, f.mime_type AS "mimeType",
     f.reference_uri AS "referenceUri", f.upload_kind AS "uploadKind", f.part_count AS "partCount",
     f.object_id AS "objectId", o.store_upload_id AS "storeUploadId", f.verified
   FROM artifacts.upload_files f
   LEFT JOIN LATERAL (
     SELECT x.store_upload_id FROM artifacts.objects x WHERE x.org_id = f.org_id AND x.id = f.object_id OFFSET 0) o ON true
   WHERE f.org_id = $1 AND f.session_id = $2 ${condition}`;
const listFiles = sql("artifacts_list_upload_files", filesOf("ORDER BY f.path"));
const findFile = sql("artifacts_find_upload_file", filesOf("AND f.id = $3"));

/** Returns all entries of an upload, by path. */
export function listUploadFiles(tx: Tx, orgId: string, sessionId: string): Promise<UploadFileRow[]> {
  return tx.rows(listFiles, [orgId, sessionId]);
}

/** Returns one entry of an upload. */
export function findUploadFile(
  tx: Tx,
  orgId: string,
  sessionId: string,
  fileId: string,
): Promise<UploadFileRow | undefined> {
  return tx.one(findFile, [orgId, sessionId, fileId]);
}

const noteStoreUploads = sql(
  "artifacts_note_store_uploads",
  `UPDATE artifacts.objects o SET store_upload_id = u.upload_id
   FROM unnest($2::uuid[], $3::text[], $4::text[]) AS u (object_id, upload_id, replaced)
   WHERE o.org_id = $1 AND o.id = u.object_id AND o.state = 'arriving' AND o.store_upload_id IS NOT DISTINCT FROM u.replaced`,
);

/**
 * Keeps the store's names of uploads in parts, where the name is still the previously known one, null for none: of several requests that begin
 * an upload in the store, the first counts.
 */
export async function noteStoreUploadIds(
  tx: Tx,
  orgId: string,
  begun: readonly { readonly objectId: string; readonly storeUploadId: string; readonly replaced: string | null }[],
): Promise<void> {
  await tx.rows(noteStoreUploads, [
    orgId,
    begun.map(({ objectId }) => objectId),
    begun.map(({ storeUploadId }) => storeUploadId),
    begun.map(({ replaced }) => replaced),
  ]);
}

const markVerified = sql(
  "artifacts_mark_file_verified",
  `UPDATE artifacts.upload_files SET verified = true, object_id = $4 WHERE org_id = $1 AND session_id = $2 AND id = $3`,
);

/** Notes that the bytes of a file are complete and correct in an object. */
export async function markFileVerified(
  tx: Tx,
  orgId: string,
  file: { readonly sessionId: string; readonly fileId: string; readonly objectId: string },
): Promise<void> {
  await tx.rows(markVerified, [orgId, file.sessionId, file.fileId, file.objectId]);
}

const beginCompletion = sql(
  "artifacts_begin_completion",
  `UPDATE artifacts.upload_sessions SET state = 'completing', completion = $3, verified_until = now() + $4 * interval '1 second'
   WHERE org_id = $1 AND id = $2`,
);
const takeLease = sql(
  "artifacts_take_upload_lease",
  `UPDATE artifacts.upload_sessions SET verified_until = now() + $3 * interval '1 second'
   WHERE org_id = $1 AND id = $2 AND state IN ('completing', 'provider_completed') AND coalesce(verified_until < now(), true)`,
);
// The objects are kept as well: hashing a large file may take longer than an upload may.
const renewLease = sql(
  "artifacts_renew_upload_lease",
  `WITH renewed AS (
     UPDATE artifacts.upload_sessions SET verified_until = now() + $3 * interval '1 second'
     WHERE org_id = $1 AND id = $2 AND state IN ('completing', 'provider_completed') RETURNING id
   )
   UPDATE artifacts.objects o SET sweep_after = greatest(o.sweep_after, now() + interval '1 hour')
   FROM renewed CROSS JOIN artifacts.upload_files f
   WHERE f.org_id = $1 AND f.session_id = renewed.id AND o.org_id = $1 AND o.id = f.object_id AND o.state = 'arriving'`,
);
const changeState = sql(
  "artifacts_change_upload_state",
  `UPDATE artifacts.upload_sessions SET state = $3, result_version_id = $4, reason = coalesce($5, reason),
     completion = CASE WHEN $3 = 'provider_completed' THEN completion END,
     verified_until = CASE WHEN $3 = 'provider_completed' THEN verified_until END
   WHERE org_id = $1 AND id = $2`,
);

/** Keeps the data that `complete` got and takes the lease, in a transaction that has locked the upload. */
export async function beginUploadCompletion(
  tx: Tx,
  orgId: string,
  sessionId: string,
  { completion, leaseSeconds }: { readonly completion: Uint8Array; readonly leaseSeconds: number },
): Promise<void> {
  await tx.rows(beginCompletion, [orgId, sessionId, completion, leaseSeconds]);
}

/** Takes the lease of an upload that no process is verifying. Returns whether it was free. */
export async function takeUploadLease(
  tx: Tx,
  orgId: string,
  sessionId: string,
  leaseSeconds: number,
): Promise<boolean> {
  return (await tx.count(takeLease, [orgId, sessionId, leaseSeconds])) > 0;
}

/** Renews a lease of this process, and keeps the objects of the upload from being swept for an hour; 0 seconds release the lease. */
export async function renewUploadLease(tx: Tx, orgId: string, sessionId: string, leaseSeconds: number): Promise<void> {
  await tx.rows(renewLease, [orgId, sessionId, leaseSeconds]);
}

/** Changes the state of an upload, in a transaction that has locked it. */
export async function changeUploadState(
  tx: Tx,
  orgId: string,
  sessionId: string,
  state: UploadState,
  more: { readonly resultVersionId?: string; readonly reason?: string } = {},
): Promise<void> {
  await tx.rows(changeState, [orgId, sessionId, state, more.resultVersionId ?? null, more.reason ?? null]);
}

const deleteFiles = sql(
  "artifacts_delete_upload_files",
  "DELETE FROM artifacts.upload_files WHERE org_id = $1 AND session_id = $2",
);

/** Deletes the files of an upload that has ended. */
export async function deleteUploadFiles(tx: Tx, orgId: string, sessionId: string): Promise<void> {
  await tx.rows(deleteFiles, [orgId, sessionId]);
}
