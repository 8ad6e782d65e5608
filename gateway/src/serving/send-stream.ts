import { constants, createGzip } from "node:zlib";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError, isAppError } from "@tidemark/errors";
import { requireTaking } from "../gate/read-pace.ts";
import type { AnswerStream } from "../route.ts";
import type { OpenStream } from "../changes/event-streams.ts";
import { announceSpan, chooseSpan } from "../http/range.ts";
import type { KeptExport } from "../spool/spool.ts";
import type { ServingContext } from "./context.ts";

/**
 * Sends pieces as the client takes them; the next one is requested when there is room for it. No bytes are sent before the first piece is there, so that
 * a failure until then is answered with its error. A later failure ends the connection before the answer is complete. A client that takes
 * less than the least pace is cut. With `HEAD` only the headers are sent, and the pieces are abandoned.
 * @throws any error of the first piece
 */
export async function sendStream(
  stream: AnswerStream,
  compressed: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
  { stallMs, log }: Pick<ServingContext, "stallMs" | "log">,
): Promise<FastifyReply> {
  const pieces = stream.pieces[Symbol.asyncIterator]();
  const first = request.method === "HEAD" ? undefined : await pieces.next();
  if (compressed) reply.header("content-encoding", "gzip");
  else if (stream.span !== undefined) announceSpan(stream.span, reply);
  else if (stream.sizeBytes !== undefined) reply.header("content-length", String(stream.sizeBytes));
  if (stream.tag !== undefined) reply.headers({ etag: `"${stream.tag}"`, "accept-ranges": "bytes" });
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  if (first === undefined) {
    raw.end();
    await pieces.return?.();
    return reply;
  }
  requireTaking(raw, stallMs);
  // Account, turn, rights, pace and share of an answer each wait for its end, and a pipeline adds four listeners. Node warns of a leak above ten.
  raw.setMaxListeners(20);
  const all = from(first, pieces);
  // The first level costs a third of the default's time for an answer a tenth larger.
  const sending = compressed ? pipeline(all, createGzip({ level: constants.Z_BEST_SPEED }), raw) : pipeline(all, raw);
  sending.catch((error: unknown) => {
    raw.destroy();
    if (!hasLeft(error) && !isAppError(error)) log.error("an answer broke off", { request_id: request.id, error });
  });
  return reply;
}

async function* from(
  first: IteratorResult<Uint8Array>,
  more: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await more.next()) yield next.value;
  } finally {
    await more.return?.();
  }
}

/** Whether the client has left, which is not our fault. */
function hasLeft(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ERR_STREAM_UNABLE_TO_PIPE" || code === "ECONNRESET";
}

/** Sends the headers and hands the answer over to its events. They are not compressed: that would cost each stream a hundred times what it holds. */
export function sendEvents(events: OpenStream, reply: FastifyReply): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  raw.flushHeaders();
  events.start(raw);
  return reply;
}

/**
 * Sends an export that is kept, also while it is still being written.
 * @throws the error that broke it off before its first byte
 */
export function sendExport(
  kept: KeptExport,
  compressed: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
  context: Pick<ServingContext, "stallMs" | "log">,
): Promise<FastifyReply> {
  const sizeBytes = kept.sizeBytes();
  const stream: AnswerStream = {
    pieces: kept.read(),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    // A tag names bytes, and parts are of uncompressed bytes.
    ...(compressed ? {} : { tag: kept.tag }),
  };
  return sendStream(stream, compressed, request, reply, context);
}

/**
 * Sends the part of an export that `Range` asks for, once the export is complete, because only then are its bytes known.
 * @throws the error that broke it off, range_not_satisfiable, service_unavailable while it is not complete
 */
export async function sendExportPart(
  kept: KeptExport,
  request: FastifyRequest,
  reply: FastifyReply,
  context: Pick<ServingContext, "stallMs" | "deadlineMs" | "log">,
): Promise<FastifyReply> {
  const span = chooseSpan(request.headers.range, await soon(kept.whole(), context.deadlineMs), reply);
  return sendStream({ pieces: kept.read(span), tag: kept.tag, span }, false, request, reply, context);
}

/** Waits for the length of an export, but no longer than a request may take. */
function soon(whole: Promise<number>, ms: number): Promise<number> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new AppError("service_unavailable", "the export is still being written", { retryAfterSeconds: 5 }));
  }, ms);
  return Promise.race([whole, promise]).finally(() => clearTimeout(timer));
}
