import { AppError } from "@tidemark/errors";
import { createThreads } from "@tidemark/work";
import type { ChunkJob } from "../chunks/read-chunk.rules.ts";
import type { PlacedLine } from "../restore/new-ids.rules.ts";
import type { ReadPiece, SentPiece } from "../restore/read-piece.rules.ts";
import type { PackedChunk, PackedDocument } from "./read-import.ts";

/** Threads that read the bodies of imports and the pieces of archives, so that no other request waits for one. */
export type Readers = {
  /**
   * Reads a chunk of a job of an organization; undefined for a JSON object when no job is given. Organizations share the threads fairly.
   * @throws bad_request; service_unavailable if it had no turn within 4 s, or took more than 8 s
   */
  chunk(
    orgId: string,
    body: Uint8Array,
    job: ChunkJob | undefined,
  ): Promise<{ readonly chunk: PackedChunk; readonly payload: Uint8Array } | undefined>;
  /** Reads a document of another tracker. @throws as `chunk` */
  document(orgId: string, body: Uint8Array, source: string): Promise<PackedDocument>;
  /** Reads a piece of an archive that is sent. @throws archive_invalid with the number of the line; as `chunk` */
  piece(orgId: string, piece: SentPiece): Promise<ReadPiece>;
  /** Reads the rows of a piece that is stored, whose lines are counted from `firstLine`. @throws as `piece` */
  rows(orgId: string, content: Uint8Array, firstLine: number): Promise<PlacedLine[]>;
  /** Ends all threads. What is being read is rejected. */
  close(): Promise<void>;
};

/** A task for a thread. */
export type ReaderTask = { readonly body: Uint8Array } & (
  | { readonly kind: "chunk"; readonly job: ChunkJob | undefined }
  | { readonly kind: "document"; readonly source: string }
  | ({ readonly kind: "piece" } & Omit<SentPiece, "data">)
  | { readonly kind: "rows"; readonly firstLine: number }
);

/** The result of a thread. */
export type ReaderResult = Awaited<ReturnType<Readers["chunk" | "document" | "piece" | "rows"]>>;

/** Milliseconds: a request is answered within 10 seconds. The largest chunk takes one or two. */
const LIMITS = { runMsMax: 8000, waitMsMax: 4000, totalMsMax: 9000 };

const busy = (text: string) => () => new AppError("service_unavailable", text, { retryAfterSeconds: 1 });

/** Creates the readers of a process, with this many threads, which start when first needed. */
export function createReaders(threads: number): Readers {
  const pool = createThreads<ReaderTask, ReaderResult>({
    entry: new URL("./reader-thread.ts", import.meta.url),
    threads,
    ...LIMITS,
    tooLong: busy("the import could not be read in time; try again, or send smaller parts"),
    tooMany: busy("too many imports are being read; try again"),
  });
  const read = async <Result extends ReaderResult>(
    orgId: string,
    sent: Uint8Array,
    taskOf: (body: Uint8Array) => ReaderTask,
  ): Promise<Result> =>
    // The thread answers each kind of task with its kind of result.
    (await pool.run(orgId, () => {
      // A copy for the thread: the body belongs to the sender.
      const body = new Uint8Array(sent);
      return { value: taskOf(body), transfer: [body.buffer] };
    })) as Result;
  return {
    chunk: (orgId, sent, job) => read(orgId, sent, (body) => ({ kind: "chunk", body, job })),
    document: (orgId, sent, source) => read(orgId, sent, (body) => ({ kind: "document", body, source })),
    piece: (orgId, { data, number, firstLine, isLast }) =>
      read(orgId, data, (body) => ({ kind: "piece", body, number, firstLine, isLast })),
    rows: (orgId, content, firstLine) => read(orgId, content, (body) => ({ kind: "rows", body, firstLine })),
    close: () => pool.close(),
  };
}
