import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { badRequest } from "@tidemark/errors";
import { parseJsonObject } from "@tidemark/documents";
import { arriving, type ArrivalPace } from "../../gate/arrival.ts";
import { bodyTooLarge, encodingOf } from "../../gate/read-body.ts";
import { createContents, type Contents, type ContentStore } from "./store-contents.ts";
import { createContentsTokenizer, type ContentPath } from "./take-contents.ts";

/** Which bodies are taken. */
export type ContentsRule = {
  readonly path: ContentPath;
  /** Most bytes of the decoded body. */
  readonly bytesMax: number;
  /** Most bytes of it without its contents. */
  readonly restBytesMax: number;
};

/** A body whose contents were taken out. */
export type ReceivedContents = {
  /** The parsed body. A text at the path is the index of its content in `contents.all`. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly contents: Contents;
};

/** Bytes that gzip may add to a body that does not compress. */
const GZIP_OVERHEAD_BYTES = 1024;

/**
 * Reads a JSON body, plain or gzip, whose contents are sent to the store while it arrives. Integers of the body keep their digits. An error in a content
 * or in storing it is reported by `contents`, because malformed bodies are refused first; none of those stay in memory, and anything that was written
 * has a row by which it is found.
 * @throws bad_request, payload_too_large, service_unavailable
 */
export async function receiveContents(
  request: IncomingMessage,
  rule: ContentsRule,
  store: ContentStore,
  pace?: ArrivalPace,
): Promise<ReceivedContents> {
  const encoding = encodingOf(request.headers);
  const wireBytesMax = rule.bytesMax + (encoding === "gzip" ? GZIP_OVERHEAD_BYTES : 0);
  if (Number(request.headers["content-length"] ?? 0) > wireBytesMax) throw bodyTooLarge(rule.bytesMax);
  const contents = createContents(store);
  const rest = createRest(rule.restBytesMax, store.hold);
  const tokenizer = createContentsTokenizer(rule.path, { ...contents, rest: (bytes) => rest.add(bytes) });
  try {
    const wire = bounded(arriving(request, pace), wireBytesMax, rule.bytesMax);
    const chunks = encoding === "gzip" ? bounded(inflated(wire), rule.bytesMax, rule.bytesMax) : wire;
    for await (const chunk of chunks) {
      tokenizer.push(chunk);
      await contents.settle();
    }
    const bytes = rest.take();
    if (bytes.length === 0) throw badRequest("the body must be a JSON object");
    return { body: parseJsonObject(bytes, true), contents };
  } catch (error) {
    await contents.abandon();
    throw error;
  }
}

/** @throws payload_too_large, which names `named` as the limit */
async function* bounded(chunks: AsyncIterable<Buffer>, bytesMax: number, named: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw bodyTooLarge(named);
    yield chunk;
  }
}

const INFLATED_CHUNK_BYTES = 64 * 1024;

async function* inflated(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK_BYTES });
  let fault: Error | undefined;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield* compressed;
    } catch (error) {
      fault = error as Error;
      throw error;
    }
  }
  const ended = new Promise<void>((resolve) => {
    pipeline(source(), gunzip, () => resolve());
  });
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch {
    throw fault ?? badRequest("the body is not valid gzip");
  } finally {
    gunzip.destroy();
    await ended;
  }
}

/** Collects the rest of a body, which is small, in one place. */
function createRest(bytesMax: number, hold: (bytes: number) => void) {
  let bytes = Buffer.alloc(0);
  let length = 0;
  return {
    add(piece: Uint8Array): void {
      if (length + piece.length > bytesMax) throw restTooLarge(bytesMax);
      if (length + piece.length > bytes.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * bytes.length, length + piece.length));
        hold(larger.length - bytes.length);
        bytes.copy(larger, 0, 0, length);
        bytes = larger;
      }
      bytes.set(piece, length);
      length += piece.length;
    },
    take: (): Buffer => bytes.subarray(0, length),
  };
}

function restTooLarge(bytesMax: number): Error {
  return bodyTooLarge(bytesMax, "the body without its contents");
}
