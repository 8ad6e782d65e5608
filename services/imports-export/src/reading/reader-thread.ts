import type { Transferable } from "node:worker_threads";
import { answerTasks } from "@tidemark/threads";
import { readChunkBody, readDocumentBody, type PackedContent } from "./read-import.ts";
import type { ReaderResult, ReaderTask } from "./readers.ts";

// The entry of a thread that reads bodies of imports.

// What is thrown at once has to be a rejection too.
answerTasks<ReaderTask, ReaderResult>(async (task) => read(task));

function read(task: ReaderTask) {
  const bytes = Buffer.from(task.body.buffer, task.body.byteOffset, task.body.byteLength);
  if (task.kind === "document") {
    const document = readDocumentBody(bytes, task.source);
    return { value: document, transfer: partsOf(document.content) };
  }
  const found = readChunkBody(bytes, task.job);
  if (found === undefined) return { value: undefined };
  return { value: found, transfer: [...partsOf(found.chunk.content), ...own(found.payload)] };
}

function partsOf({ packed, named }: PackedContent): Transferable[] {
  return [packed, named.hashes, named.places, named.rich].flatMap(own);
}

/** What belongs to an array alone is handed over. Small ones share their memory with others, and are copied. */
function own({ buffer, byteLength }: Uint8Array | Int32Array): Transferable[] {
  return buffer.byteLength === byteLength && byteLength > 0 ? [buffer as ArrayBuffer] : [];
}
