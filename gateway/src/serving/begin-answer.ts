import { badRequest } from "@tidemark/errors";
import type { FastifyReply, FastifyRequest } from "fastify";
import { headerNames } from "../header-names.ts";
import { corsHeaders } from "../http/cors.ts";
import type { ServingContext } from "./context.ts";

/**
 * Sets what every answer carries: the request's id; for pages from allowed origins the right to read
 * it; while the process drains, the end of the connection.
 * @throws bad_request when HTTP/1.1 comes without a host (RFC 9112, Host)
 */
export function beginAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { mayCome, draining }: Pick<ServingContext, "mayCome" | "draining">,
  baseUrl: string,
): void {
  reply.header(headerNames.requestId, request.id);
  const { origin } = request.headers;
  if (origin !== undefined && mayCome(origin, baseUrl)) reply.headers(corsHeaders(origin));
  if (draining()) reply.header("connection", "close");
  if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
    throw badRequest("the Host header is missing");
}
