import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { parseJsonObject, parseJsonObjectInTurns } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { askForBody } from "../gate/arrival.ts";
import { mediaTypeOf } from "../http/headers.ts";
import { BODY_BYTES_MAX, readBody, UNKNOWN_BODY_BYTES_MAX } from "../gate/read-body.ts";
import type { Protocol, Route } from "../route.ts";
import { takeTurn } from "../gate/claims.ts";
import { COUNTED_BYTES_MIN } from "../gate/body-memory.ts";
import type { RequestState, ServingContext } from "./context.ts";
import { watchArrival } from "./rights.ts";

/** The outcome of reading a body: its object, nothing, or a refusal. */
export type ParsedBody = Readonly<Record<string, unknown>> | undefined | Error;

type Done = (error: null, body: ParsedBody) => void;

/**
 * Makes the reader of the body of a request that the guard has admitted: a JSON object, gzip or plain, within the route's limit on
 * decoded bytes. An empty body becomes `undefined`. Routes without a body ignore what is sent, of any content type. A streamed
 * body is left to the handler. A body is parsed in the turn of its organization, which continues in the handler.
 *
 * A refusal is passed on as the body, for the handler to throw: for an error the framework would
 * close the connection while the client is still sending, and the client would never see the answer.
 */
export function createBodyParser(context: Pick<ServingContext, "turns" | "rights">) {
  return (request: FastifyRequest, payload: IncomingMessage, done: Done): void => {
    const { state } = request;
    if (state?.route.streamed !== undefined) {
      done(null, undefined);
      return;
    }
    if (state?.route.body === undefined) {
      // Without a route, no handler wants the body.
      if (state !== undefined) askForBody(payload);
      payload.resume();
      done(null, undefined);
      return;
    }
    const { route, account, identity } = state;
    const routeBytesMax = route.bodyBytesMax ?? BODY_BYTES_MAX;
    const bytesMax = identity === undefined ? Math.min(UNKNOWN_BODY_BYTES_MAX, routeBytesMax) : routeBytesMax;
    // Smaller bodies arrive within the time of a request.
    const unwatch = account === undefined ? undefined : watchArrival(state, payload, context);
    readBody(payload, { bytesMax, account }, (error, bytes) => {
      unwatch?.();
      if (error !== null || bytes === undefined) done(null, error ?? undefined);
      else if (bytes.length === 0 && route.protocol === undefined) done(null, undefined);
      else parseInTurn(bytes, state, request, context, done);
    });
  };
}

/** Larger bodies are parsed in turns with other requests: 256 KiB of the slowest JSON take some 25 ms. */
const AT_ONCE_BYTES_MAX = 256 * 1024;

/** Foreign protocols take turns by themselves. */
function isParsedAtOnce(bytes: Buffer, { protocol }: Route): boolean {
  return bytes.length <= AT_ONCE_BYTES_MAX && protocol === undefined;
}

function parseInTurn(
  bytes: Buffer,
  state: RequestState,
  request: FastifyRequest,
  context: Pick<ServingContext, "turns">,
  done: Done,
): void {
  let waiting: Promise<void> | undefined;
  try {
    waiting = takeTurn(state, context);
  } catch (refusal) {
    done(null, refusal as Error);
    return;
  }
  if (waiting === undefined && isParsedAtOnce(bytes, state.route)) {
    done(null, parsed(bytes, state.route));
    return;
  }
  // A copy, because the bytes are valid only until this returns.
  void parseLater(Buffer.from(bytes), waiting, state.route, request, done);
}

async function parseLater(
  bytes: Buffer,
  waiting: Promise<void> | undefined,
  route: Route,
  request: FastifyRequest,
  done: Done,
): Promise<void> {
  let body: ParsedBody;
  try {
    if (waiting !== undefined) await waiting;
    if (isParsedAtOnce(bytes, route)) body = parsed(bytes, route);
    else body = await parsedInTurns(bytes, route, request);
  } catch (fault) {
    body = fault as Error;
  }
  done(null, body);
}

function parsedInTurns(
  bytes: Buffer,
  { protocol, exactNumbers = false, bareTokens = false }: Route,
  { headers }: FastifyRequest,
): Promise<ParsedBody> {
  return protocol?.parse(bytes, mediaTypeOf(headers)) ?? parseJsonObjectInTurns(bytes, exactNumbers, { bareTokens });
}

function parsed(bytes: Buffer, { exactNumbers = false, bareTokens = false }: Route): ParsedBody {
  try {
    return parseJsonObject(bytes, exactNumbers, bareTokens);
  } catch (fault) {
    return fault as Error;
  }
}

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
