import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { BODY_BYTES_MAX } from "../http/body-limit.ts";
import { parseJsonObject } from "../http/parse-json-object.ts";
import { readBody } from "../http/read-body.ts";

/** What has become of a body: the object in it, nothing, or why it is refused. */
export type ParsedBody = Readonly<Record<string, unknown>> | undefined | Error;

/**
 * Reads the body of a request that the guard has let in: gzip or plain, within the route's limit on
 * decoded bytes, a JSON object. Nothing at all becomes `undefined`. Routes that take no body ignore
 * whatever comes, of any content type.
 *
 * A refusal is handed on as the body, for the handler to throw: for an error the framework would
 * close the connection under a client that is still sending, who would then never see the answer.
 */
export function parseBody(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: null, body: ParsedBody) => void,
): void {
  const { route, bodyAccount } = request.state ?? {};
  if (route?.body === undefined) {
    payload.resume();
    done(null, undefined);
    return;
  }
  readBody(payload, request.headers, route.bodyBytesMax ?? BODY_BYTES_MAX, bodyAccount, (error, bytes) => {
    if (error !== null || bytes === undefined) done(null, error ?? undefined);
    else done(null, bytes.length === 0 ? undefined : parsed(bytes, route.exactNumbers === true));
  });
}

function parsed(bytes: Buffer, exactNumbers: boolean): ParsedBody {
  try {
    return parseJsonObject(bytes, exactNumbers);
  } catch (fault) {
    return fault as Error;
  }
}
