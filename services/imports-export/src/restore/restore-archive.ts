import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { AppError, badRequest, isReason, notFound } from "@tidemark/errors";
import { keyReused, type Db } from "@tidemark/pg";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { callerOf, isUuid, refuseUnpaid } from "@tidemark/requests";
import type { Call, Handlers } from "@tidemark/rpc";
import {
  beginArchiveRow,
  findArchive,
  readAnswer,
  removeUnnamed,
  type ArchiveName,
  type ArchiveRow,
} from "./archives.sql.ts";
import { putPiece, type PutPieceDeps } from "./put-piece.ts";

/** Dependencies of the handlers. */
type RestoreDeps = PutPieceDeps & {
  /** Makes this process begin a restore. */
  readonly begin: (archive: ArchiveName) => void;
};

/** Bytes of an answer, which lists the replaced ids. */
const ANSWER_BYTES_MAX = 1024 ** 3;
/** Pauses between two polls of a restore. */
const LOOK_MS = { first: 10, longest: 500 };
/** The part of a call's time that is left for its answer. */
const MARGIN_MS = 500;

const decompress = promisify(zstdDecompress);

/** Returns the handlers of RestoreService. */
export function restoreHandlers({
  db,
  gate,
  readers,
  begin,
}: RestoreDeps): Handlers<(typeof RestoreService)["method"]> {
  return {
    async beginArchive({ key }, call) {
      const caller = callerOf(call);
      refuseUnpaid(caller);
      const hash = key === "" ? null : createHash("sha256").update(key).digest();
      const identity = call.identity!;
      return db.withTenant(caller.orgId, async (tx) => {
        const begun = await beginArchiveRow(tx, caller.orgId, hash, toBinary(IdentitySchema, identity));
        if (!isSameSender(fromBinary(IdentitySchema, begun.sender), identity)) throw keyReused();
        return { archiveId: begun.id, isRestored: begun.isRestored };
      });
    },

    async putPiece(request, call) {
      requireId(request.archiveId);
      const { lines, isComplete } = await putPiece({ db, gate, readers }, request, call);
      if (request.isLast && !isComplete) {
        const name = { orgId: callerOf(call).orgId, id: request.archiveId };
        await db.withTenant(name.orgId, (tx) => removeUnnamed(tx, name));
        throw new AppError("archive_incomplete", "the archive has no end; send all of it again with the same key");
      }
      if (isComplete) begin({ orgId: callerOf(call).orgId, id: request.archiveId });
      return { lines };
    },

    async awaitArchive({ archiveId }, call) {
      requireId(archiveId);
      const name = { orgId: callerOf(call).orgId, id: archiveId };
      const archive = await awaitEnd(db, call, name);
      if (archive === undefined) return { answerJson: new Uint8Array() };
      if (archive.status === "failed") throw errorOf(archive);
      const answer = await db.readTenant(name.orgId, (tx) => readAnswer(tx, name));
      return { answerJson: await decompress(answer, { maxOutputLength: ANSWER_BYTES_MAX }) };
    },
  };
}

function requireId(id: string): void {
  if (!isUuid(id)) throw badRequest("archive_id must be a canonical UUID", "archive_id");
}

/** Returns an archive whose restore has ended; undefined while it goes on. @throws not_found, bad_request */
async function awaitEnd(db: Db, call: Call, name: ArchiveName): Promise<ArchiveRow | undefined> {
  for (let ms = LOOK_MS.first; ; ms = Math.min(ms * 1.5, LOOK_MS.longest)) {
    const archive = await db.readTenant(name.orgId, (tx) => findArchive(tx, name));
    if (archive === undefined) throw notFound("archive");
    if (archive.status === "receiving") throw badRequest("the archive is not complete", "archive_id");
    if (archive.status !== "restoring") return archive;
    if (Date.now() + ms > call.deadlineMs - MARGIN_MS) return undefined;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}

function errorOf({ errorCode, errorMessage, errorPosition }: ArchiveRow): AppError {
  const reason = errorCode ?? "";
  return new AppError(isReason(reason) ? reason : "internal", errorMessage ?? "the restore failed", {
    position: errorPosition ?? undefined,
  });
}

type Sender = Pick<Identity, "kind" | "credentialId" | "userId" | "projectId">;

/**
 * Whether an archive that one caller sent also belongs to another: the same API key, whose sessions count as the key, or the same user, in the same
 * project. Any other caller with the `Idempotency-Key` makes a different request: the answer names projects and ids that this caller may not see.
 */
function isSameSender(one: Sender, other: Sender): boolean {
  return one.kind === other.kind && one.projectId === other.projectId && nameOf(one) === nameOf(other);
}

function nameOf({ kind, userId, credentialId }: Sender): string {
  return kind === CallerKind.SESSION ? userId : credentialId;
}
