import type { Transferable } from "node:worker_threads";
import { AppError } from "@tidemark/errors";
import { answerTasks } from "@tidemark/work";
import { isLineFault } from "../restore/piece-facts.rules.ts";
import { readPiece, rowsOfPiece } from "../restore/read-piece.rules.ts";
import { readChunkBody, readDocumentBody, type PackedContent } from "./read-import.ts";
import type { ReaderResult, ReaderTask } from "./readers.ts";

// The entry of a thread that reads bodies of imports and pieces of archives.

// An error that is thrown synchronously must be a rejection too.
answerTasks<ReaderTask, ReaderResult>(async (task) => read(task));

function read(task: ReaderTask) {
  const bytes = Buffer.from(task.body.buffer, task.body.byteOffset, task.body.byteLength);
  if (task.kind === "document") {
    const document = readDocumentBody(bytes, task.source);
    return { value: document, transfer: partsOf(document.content) };
  }
  if (task.kind === "piece") {
    const piece = refusingFaults(() => readPiece({ ...task, data: bytes }));
    return { value: piece, transfer: [piece.facts, piece.content].flatMap(own) };
  }
  if (task.kind === "rows") return { value: refusingFaults(() => rowsOfPiece(bytes, task.firstLine)) };
  const found = readChunkBody(bytes, task.job);
  if (found === undefined) return { value: undefined };
  return { value: found, transfer: [...partsOf(found.chunk.content), ...own(found.payload)] };
}

/** @throws archive_invalid */
function refusingFaults<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isLineFault(error)) throw new AppError("archive_invalid", error.message, { position: error.position });
    throw error;
  }
}

function partsOf({ packed, named }: PackedContent): Transferable[] {
  return [packed, named.hashes, named.places, named.rich].flatMap(own);
}

/** Transfers memory that belongs to one array alone. Small arrays share their memory with others, and are copied. */
function own({ buffer, byteLength }: Uint8Array | Int32Array): Transferable[] {
  return buffer.byteLength === byteLength && byteLength > 0 ? [buffer as ArrayBuffer] : [];
}
