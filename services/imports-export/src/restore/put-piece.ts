import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { AppError, badRequest, isAppError, notFound } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { keyReused, type Db, type Tx } from "@tidemark/pg";
import { callerOf, type PlanGate } from "@tidemark/requests";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { PutPieceRequest } from "@tidemark/proto/imports/v1/restore";
import type { Call } from "@tidemark/rpc";
import type { Readers } from "../reading/readers.ts";
import {
  findArchive,
  findLastFacts,
  findPiece,
  lockArchive,
  putPieceRow,
  removeArchive,
  sumStagedBytes,
  type ArchiveName,
  type ArchiveRow,
} from "./archives.sql.ts";
import { unpack } from "./new-ids.rules.ts";
import type { PieceFacts } from "./piece-facts.rules.ts";
import { PIECE_BYTES_MAX, type ReadPiece } from "./read-piece.rules.ts";

type Piece = Pick<PutPieceRequest, "number" | "firstLine" | "data" | "isLast">;

/** Dependencies of storing pieces. */
export type PutPieceDeps = {
  readonly db: Db;
  /** Enforces the storage quota for staged content. */
  readonly gate: PlanGate;
  readonly readers: Pick<Readers, "piece">;
};

/**
 * RestoreService.PutPiece. Returns the line ends of the piece, and whether it completes the archive. Nothing is kept of an archive that has a fault or does not
 * fit in the storage quota. @throws see restore.proto
 */
export async function putPiece(
  { db, gate, readers }: PutPieceDeps,
  request: PutPieceRequest,
  call: Call,
): Promise<{ readonly lines: number; readonly isComplete: boolean }> {
  const caller = callerOf(call);
  const { orgId } = caller;
  const name = { orgId, id: request.archiveId };
  if (request.data.length > PIECE_BYTES_MAX) throw badRequest("the piece is too large", "data");
  const hash = await hashOf(request.data);
  const known = await db.readTenant(orgId, async (tx) => locatePiece(tx, await findArchive(tx, name), request, hash));
  if (known.lines !== undefined) return { lines: known.lines, isComplete: request.isLast };
  const identity = toBinary(IdentitySchema, call.identity!);
  try {
    const read = await readers.piece(orgId, request);
    const { lines } = read;
    return await db.withTenant(orgId, async (tx) => {
      const stored = await locatePiece(tx, await lockArchive(tx, name), request, hash);
      if (stored.lines !== undefined) return { lines: stored.lines, isComplete: request.isLast };
      const isComplete = request.isLast && read.isWhole && (await hasEnd(tx, name, read));
      const isPart = request.isLast && !isComplete;
      if (isPart && stored.partBytes > request.data.length) return { lines, isComplete };
      await gate.admit(caller, read.content.length);
      const row = {
        number: request.number,
        firstLine: request.firstLine,
        lines,
        contentHash: hash,
        isPart,
        content: read.content,
        facts: isPart ? null : read.facts,
        bytes: request.data.length,
      };
      await putPieceRow(tx, name, row, { isLast: isComplete, identity });
      return { lines, isComplete };
    });
  } catch (error) {
    if (!isAppError(error) || !FINAL.has(error.reason)) throw error;
    await db.withTenant(orgId, async (tx) => {
      if ((await lockArchive(tx, name))?.status === "receiving") await removeArchive(tx, name);
    });
    throw error;
  }
}

/** The errors that end an archive: a fault in it, and a quota that it exceeds. */
const FINAL: ReadonlySet<string> = new Set(["archive_invalid", "plan_limit_exceeded"]);

/** In a thread, because the largest piece takes longer than other requests may wait. */
async function hashOf(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
}

const decompress = promisify(zstdDecompress);

/** The stored state of a piece: all of it, with its lines, or a part that is its beginning. */
type KnownPiece = { readonly lines: number | undefined; readonly partBytes: number };

/**
 * Returns the known state of a piece of an archive, which must be the next one if it is not stored.
 * @throws not_found, idempotency_key_reused, payload_too_large, bad_request
 */
async function locatePiece(
  tx: Tx,
  archive: ArchiveRow | undefined,
  piece: Piece,
  hash: Uint8Array,
): Promise<KnownPiece> {
  if (archive === undefined) throw notFound("archive");
  const known = await findPiece(tx, archive, piece.number);
  if (known !== undefined && !known.isPart) {
    if (Buffer.compare(known.contentHash, hash) !== 0) throw keyReused();
    return { lines: known.lines, partBytes: 0 };
  }
  const part = known?.part ?? undefined;
  const begun = part === undefined ? new Uint8Array() : await decompress(part, { maxOutputLength: PIECE_BYTES_MAX });
  requireBeginning(begun, piece.data);
  requireNext(archive, piece, await sumStagedBytes(tx, archive.orgId));
  return { lines: undefined, partBytes: begun.length };
}

function requireNext(archive: ArchiveRow, { number, data }: Piece, stagedBytes: number): void {
  // A complete archive has no further pieces.
  if (archive.status !== "receiving") throw keyReused();
  if (number !== archive.pieces) throw badRequest(`the next piece has the number ${archive.pieces}`, "number");
  if (stagedBytes + data.length > RESTORE_LIMITS.archiveBytesMax) {
    throw new AppError(
      "payload_too_large",
      `archives that an organization sends must have at most ${RESTORE_LIMITS.archiveBytesMax} bytes together`,
    );
  }
}

/** @throws idempotency_key_reused unless one of them begins with the other */
function requireBeginning(before: Uint8Array, now: Uint8Array): void {
  const shared = Math.min(before.length, now.length);
  if (Buffer.compare(before.subarray(0, shared), now.subarray(0, shared)) !== 0) throw keyReused();
}

/** Blank lines may follow an archive's end. */
async function hasEnd(tx: Tx, name: ArchiveName, { hasEnd, isBlank }: ReadPiece): Promise<boolean> {
  if (hasEnd) return true;
  if (!isBlank) return false;
  const before = await findLastFacts(tx, name);
  return before !== undefined && unpack<PieceFacts>(before).ends !== undefined;
}
