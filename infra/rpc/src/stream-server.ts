import type { DescMessage } from "@bufbuild/protobuf";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { isAppError } from "@tidemark/errors";
import { envelopeHeader, STREAM_TYPE } from "./envelopes.ts";
import { errorToJson } from "./error-wire.ts";
import { encodeMessage } from "./messages.ts";

/**
 * Sends the messages of a stream, each when the connection has room for it, and how it ended. Ends the stream when the peer has left.
 * `opened` may throw: then only the error is sent.
 */
export async function sendStream(
  response: ServerResponse,
  output: DescMessage,
  opened: () => AsyncGenerator<object, void, undefined>,
  onUnknownError: ((error: unknown) => void) | undefined,
): Promise<void> {
  let messages: AsyncGenerator<object, void, undefined> | undefined;
  const closed = new AbortController();
  response.once("close", () => {
    closed.abort();
    // The client is gone, and with it the reader of an error.
    void messages?.return().catch(() => {});
  });
  response.writeHead(200, { "content-type": STREAM_TYPE });
  let end: object = {};
  try {
    messages = opened();
    for await (const message of messages) {
      const bytes = await encodeMessage(output, message);
      response.write(envelopeHeader(bytes.length, false));
      if (!response.write(bytes)) await once(response, "drain", { signal: closed.signal });
      if (closed.signal.aborted) return;
    }
  } catch (error) {
    if (closed.signal.aborted) return;
    if (!isAppError(error)) onUnknownError?.(error);
    end = { error: errorToJson(error) };
  }
  if (closed.signal.aborted) return;
  const bytes = Buffer.from(JSON.stringify(end));
  response.write(envelopeHeader(bytes.length, true));
  response.end(bytes);
}
