import type { FastifyRequest } from "fastify";
import { badRequest } from "@tidemark/errors";
import { COUNTED_BYTES_MIN } from "../gate/body-memory.ts";
import { mediaTypeOf } from "../http/headers.ts";
import type { Protocol, Route } from "../route.ts";

/** Whether the body may be large enough to be counted, as bodies that are compressed or of unknown length may be. */
export function mayBeLarge(route: Route, { headers }: FastifyRequest): boolean {
  if (route.body === undefined) return false;
  return headers["content-encoding"] !== undefined || !(Number(headers["content-length"]) < COUNTED_BYTES_MIN);
}

/** Requires that a body, if there is one, is declared as JSON. @throws bad_request */
export function checkContentType({ headers }: FastifyRequest): void {
  const empty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  if (!empty && mediaTypeOf(headers) !== "application/json") {
    throw badRequest("the content type must be application/json");
  }
}

/** Requires that a body is declared as one of a protocol's media types. @throws bad_request */
export function requireMediaType({ mediaTypes }: Protocol, { headers }: FastifyRequest): void {
  if (mediaTypes.includes(mediaTypeOf(headers))) return;
  throw badRequest(`the content type must be ${mediaTypes.join(" or ")}`);
}
