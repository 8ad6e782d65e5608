import type { FastifyReply, FastifyRequest } from "fastify";
import { badRequest } from "@tidemark/errors";
import type { Log } from "@tidemark/telemetry";
import { toErrorAnswer, type ErrorAnswer } from "../errors.ts";
import { bootstrapTokenOf, presentedBy } from "../auth/authenticator.ts";
import { holdsBodyBack } from "../gate/arrival.ts";
import { headerNames, mediaTypeOf, sessionCookies } from "../http/headers.ts";
import { LINGER_BYTES_MAX, lingerAtEnd } from "../gate/closing.ts";
import { corsHeaders } from "../http/origin.ts";
import { escapeHtml, PAGE_TYPE, writePage, type WrittenPage } from "../http/page.ts";
import type { Route } from "../route.ts";
import type { ServingContext } from "./context.ts";

/**
 * Sets the headers of every answer: the request's id; that no cache keeps it, unless the route says otherwise; for pages from allowed origins the right to read
 * it; while the process drains, the end of the connection.
 * @throws bad_request for HTTP/1.1 without a host (RFC 9112, Host)
 */
export function beginAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { isAllowedOrigin, draining }: Pick<ServingContext, "isAllowedOrigin" | "draining">,
  baseUrl: string,
): void {
  reply.header(headerNames.requestId, request.id).header("cache-control", "private, no-store");
  const { origin } = request.headers;
  if (origin !== undefined && isAllowedOrigin(origin, baseUrl)) reply.headers(corsHeaders(origin));
  const isDraining = draining();
  if (isDraining) reply.header("connection", "close");
  if (isDraining || !reply.raw.shouldKeepAlive) lingerAtEnd(request.raw, lingerBytesMax(request));
  if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
    throw badRequest("the Host header is missing");
}

function lingerBytesMax({ headers }: FastifyRequest): number {
  const isUnknown =
    sessionCookies.every((name) => presentedBy(headers, name).kind === "none") &&
    bootstrapTokenOf(headers) === undefined;
  return isUnknown ? LINGER_BYTES_MAX.unknown : LINGER_BYTES_MAX.known;
}

const JSON_TYPE = "application/json; charset=utf-8";

/** What decides the shape of an error: the route; where there is none, at most the dialect that the path belongs to. */
export type ErrorShape = Partial<Pick<Route, "protocol" | "schemas" | "dialect">>;

/**
 * Answers a request with an error, as a page or in the shape of a protocol or dialect if its route has such answers. Unexpected ones are logged with the
 * request's id and hidden from the client.
 */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
  route?: ErrorShape,
): void {
  const answer = toErrorAnswer(error, request.state?.route.statuses);
  const fields = { request_id: request.id, method: request.method, error };
  if (answer.status === 500) log.error("a request failed unexpectedly", fields);
  else if (answer.status > 500) log.debug("a request could not be served", fields);
  if (holdsBodyBack(request.raw)) {
    reply.header("connection", "close");
    lingerAtEnd(request.raw, lingerBytesMax(request));
  }
  if (answer.retryAfterSeconds !== undefined) reply.header(headerNames.retryAfter, String(answer.retryAfterSeconds));
  if (route?.dialect !== undefined) {
    const { status, body } = route.dialect.writeError(answer, route.schemas !== undefined);
    reply.code(status).header("content-type", JSON_TYPE).send(body);
    return;
  }
  if (route?.schemas?.responseType === PAGE_TYPE) {
    const { text, headers } = errorPage(answer);
    reply.code(answer.status).headers(headers).send(text);
    return;
  }
  const { mediaType, body } = route?.protocol?.writeError(answer, mediaTypeOf(request.headers)) ?? {
    mediaType: JSON_TYPE,
    body: JSON.stringify(answer.body),
  };
  reply.code(answer.status).header("content-type", mediaType).send(body);
}

const STYLE = `:root{color-scheme:light dark;font:14px/1.45 system-ui,sans-serif}
body{margin:12vh auto;max-width:46em;padding:0 16px;text-align:center}
h1{font-size:16px}`;

const TITLES: Readonly<Record<number, string>> = {
  404: "This page does not exist",
  429: "Too many requests",
  503: "Not available at the moment",
};

/** Writes the page for an error of a route that answers with pages. */
function errorPage({ status, body }: ErrorAnswer): WrittenPage {
  const title = TITLES[status] ?? "This page cannot be shown";
  return writePage({
    title,
    style: STYLE,
    body: `<main><h1>${title}</h1><p>${escapeHtml(sentence(body.error))}</p></main>`,
  });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
