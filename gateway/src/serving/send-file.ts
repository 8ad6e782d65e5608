import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { notFound } from "@tidemark/errors";
import { fileHeaders } from "../http/file-headers.ts";
import { requireTaking } from "../gate/read-pace.ts";
import type { StoredFile } from "../route.ts";
import type { Span } from "../spool/spool-file.ts";
import { announceSpan, chooseSpan } from "../http/range.ts";
import type { ServingContext } from "./context.ts";

/**
 * Sends a file of the caller's organization, or the part of it that `Range` asks for. Its first bytes are read before the answer begins, so that a store that
 * fails is a 503; when it fails later, the connection ends before the announced length. Bytes are read as the client takes
 * them. A client that takes less than the least pace is cut.
 * @throws not_found when the bytes are lost, range_not_satisfiable, service_unavailable
 */
export async function sendFile(
  file: StoredFile,
  request: FastifyRequest,
  reply: FastifyReply,
  { objects, stallMs }: Pick<ServingContext, "objects" | "stallMs">,
): Promise<FastifyReply> {
  const { sizeBytes } = file;
  // Without tags and dates of ours, no condition on a range can hold (RFC 9110 §13.1.5).
  const asked = request.headers["if-range"] === undefined ? request.headers.range : undefined;
  const key = objects.keyOf(request.state?.identity?.orgId ?? "", file.objectId);
  const span = chooseSpan(asked, sizeBytes, reply);
  const isHead = request.method === "HEAD" || span.start === span.end;
  const pieces = await open(objects, key, file, isHead ? undefined : span);
  reply.headers(fileHeaders(file, request.headers));
  announceSpan(span, reply);
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  if (pieces === undefined) raw.end();
  else void copy(pieces, raw, span.end - span.start, stallMs);
  return reply;
}

type Pieces = { readonly first: Uint8Array; readonly more: AsyncIterator<Uint8Array> };

/** Opens an object and reads its first piece; only checks whether it exists if no bytes are wanted. */
async function open(
  objects: ServingContext["objects"],
  key: string,
  file: StoredFile,
  span: Span | undefined,
): Promise<Pieces | undefined> {
  const found = span === undefined ? await objects.head(key) : await objects.get(key, span);
  if (found?.sizeBytes !== file.sizeBytes) throw notFound("file");
  if (!("body" in found)) return undefined;
  const more = found.body[Symbol.asyncIterator]();
  const first = await nextOf(more);
  if (first === undefined) throw notFound("file");
  return { first, more };
}

/** Sends exactly `length` bytes, or destroys the connection. Never throws. */
async function copy({ first, more }: Pieces, raw: ServerResponse, length: number, stallMs: number): Promise<void> {
  requireTaking(raw, stallMs);
  let left = length;
  try {
    for (let piece: Uint8Array | undefined = first; piece !== undefined; piece = await nextOf(more)) {
      left -= piece.length;
      if (left < 0 || raw.destroyed) break;
      if (!raw.write(piece)) await drained(raw);
    }
    if (left === 0 && !raw.destroyed) raw.end();
    else raw.destroy();
  } catch {
    raw.destroy();
  } finally {
    await Promise.resolve(more.return?.()).catch(() => undefined);
  }
}

async function nextOf(more: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  const next = await more.next();
  return next.done === true ? undefined : next.value;
}

/** Resolves when the client has taken all written bytes, or has left. */
function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      raw.off("drain", done).off("close", done);
      resolve();
    };
    raw.once("drain", done).once("close", done);
    if (raw.destroyed) done();
  });
}
