import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "@tidemark/telemetry";
import { toErrorAnswer } from "../errors.ts";
import { headerNames } from "../header-names.ts";

/** Answers a request with an error. What nobody foresaw is logged with the request's id and hidden from the client. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const answer = toErrorAnswer(error, request.state?.route.statuses);
  const fields = { request_id: request.id, method: request.method, error };
  if (answer.status === 500) log.error("a request failed unexpectedly", fields);
  else if (answer.status > 500) log.debug("a request could not be served", fields);
  if (answer.retryAfterSeconds !== undefined) reply.header(headerNames.retryAfter, String(answer.retryAfterSeconds));
  reply.code(answer.status).header("content-type", "application/json; charset=utf-8").send(JSON.stringify(answer.body));
}
