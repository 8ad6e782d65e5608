import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { LINE_BYTES_MAX } from "@tidemark/archive";
import { AppError, badRequest, isAppError, notFound } from "@tidemark/errors";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { keyReused, type Db, type Tx } from "@tidemark/pg";
import type { PlanGate } from "@tidemark/plan-limits";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { PutPieceRequest } from "@tidemark/proto/imports/v1/restore";
import { callerOf } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import {
  findArchive,
  findPiece,
  listFacts,
  lockArchive,
  putPieceRow,
  removeArchive,
  sumStagedBytes,
  type ArchiveName,
  type ArchiveRow,
} from "./archives.sql.ts";
import { checkLine } from "./check-line.rules.ts";
import { pack, unpack } from "./new-ids.rules.ts";
import { factsOf, isLineFault, type PieceFacts } from "./piece-facts.rules.ts";

/** A piece is whole lines that follow on a mebibyte, so at most that and a line. */
const PIECE_BYTES_MAX = RESTORE_LIMITS.pieceBytesMin + LINE_BYTES_MAX + 1;

type Piece = Pick<PutPieceRequest, "number" | "firstLine" | "data" | "isLast">;

/**
 * RestoreService.PutPiece. Returns the line ends of the piece, and whether the archive is complete with it. Of an archive that has a fault or that does not
 * fit into the quota of storage nothing stays. @throws see restore.proto
 */
export async function putPiece(
  { db, gate }: { readonly db: Db; readonly gate: PlanGate },
  request: PutPieceRequest,
  call: Call,
): Promise<{ readonly lines: number; readonly isComplete: boolean }> {
  const caller = callerOf(call);
  const { orgId } = caller;
  const name = { orgId, id: request.archiveId };
  if (request.data.length > PIECE_BYTES_MAX) throw badRequest("the piece is too large", "data");
  const hash = createHash("sha256").update(request.data).digest();
  const known = await db.readTenant(orgId, async (tx) => judgePiece(tx, await findArchive(tx, name), request, hash));
  if (known.lines !== undefined) return { lines: known.lines, isComplete: request.isLast };
  const identity = toBinary(IdentitySchema, call.identity!);
  try {
    const { facts, isWhole } = readPiece(request);
    return await db.withTenant(orgId, async (tx) => {
      const stored = await judgePiece(tx, await lockArchive(tx, name), request, hash);
      if (stored.lines !== undefined) return { lines: stored.lines, isComplete: request.isLast };
      const isComplete = request.isLast && isWhole && (await hasEnd(tx, name, facts));
      const isPart = request.isLast && !isComplete;
      if (isPart && stored.partBytes > request.data.length) return { lines: facts.lines, isComplete };
      const content = zstdCompressSync(request.data);
      await gate.admit(caller, content.length);
      const row = {
        number: request.number,
        firstLine: request.firstLine,
        lines: facts.lines,
        contentHash: hash,
        isPart,
        content,
        facts: isPart ? null : pack(facts),
        bytes: request.data.length,
      };
      await putPieceRow(tx, name, row, { isLast: isComplete, identity });
      return { lines: facts.lines, isComplete };
    });
  } catch (error) {
    const isTooLarge = isAppError(error) && error.reason === "plan_limit_exceeded";
    if (!isLineFault(error) && !isTooLarge) throw error;
    await db.withTenant(orgId, async (tx) => {
      if ((await lockArchive(tx, name))?.status === "receiving") await removeArchive(tx, name);
    });
    if (!isLineFault(error)) throw error;
    throw new AppError("archive_invalid", error.message, { position: error.position });
  }
}

/** What is there of a piece: all of it, with its lines, or a part that is its beginning. */
type KnownPiece = { readonly lines: number | undefined; readonly partBytes: number };

/**
 * Tells what is known of a piece of an archive, which is the next one if it is not there.
 * @throws not_found, idempotency_key_reused, payload_too_large, bad_request
 */
async function judgePiece(
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
  const begun = part === undefined ? new Uint8Array() : unpackPiece(part);
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

/** Returns the bytes of a piece. */
export function unpackPiece(content: Uint8Array): Uint8Array {
  return zstdDecompressSync(content, { maxOutputLength: PIECE_BYTES_MAX });
}

/** Reads a piece; the last one is not whole when it was cut within its last line. @throws LineFault */
function readPiece(piece: Piece): { readonly facts: PieceFacts; readonly isWhole: boolean } {
  const { data, isLast } = piece;
  const end = data.lastIndexOf(0x0a) + 1;
  if (!isLast || end === data.length) return { facts: factsOf(data, piece, checkLine), isWhole: true };
  const whole = factsOf(data.subarray(0, end), piece, checkLine);
  try {
    const facts = factsOf(data, piece, checkLine);
    return { facts, isWhole: facts.ends !== undefined };
  } catch (error) {
    if (!isLineFault(error)) throw error;
    if (whole.ends !== undefined) throw error;
    return { facts: whole, isWhole: false };
  }
}

/** Blank lines may follow the end of an archive. */
async function hasEnd(tx: Tx, name: ArchiveName, facts: PieceFacts): Promise<boolean> {
  if (facts.ends !== undefined) return true;
  if (facts.last > 0) return false;
  const before = (await listFacts(tx, name)).at(-1);
  return before !== undefined && unpack<PieceFacts>(before).ends !== undefined;
}
