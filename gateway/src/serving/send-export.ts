import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "@tidemark/errors";
import type { AnswerStream } from "../route.ts";
import type { KeptExport } from "../spool/spool.ts";
import { chooseSpan } from "./choose-span.ts";
import type { ServingContext } from "./context.ts";
import { sendStream } from "./send-stream.ts";

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
