import { AppError } from "@tidemark/errors";

/*
 * The messages of a stream as Connect sends them (https://connectrpc.com/docs/protocol, Streaming RPCs): a byte of flags, the length in four bytes,
 * the message. The last one is JSON and says how the stream ended.
 */

/** The content type of streams of protobuf messages. */
export const STREAM_TYPE = "application/connect+proto";

const HEADER_BYTES = 5;
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;
/** The flag of the last envelope. */
const END = 2;

/** Returns the header of a message of this many bytes. */
export function envelopeHeader(bytes: number, isEnd: boolean): Uint8Array {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = isEnd ? END : 0;
  header.writeUInt32BE(bytes, 1);
  return header;
}

/** An envelope that was read. */
export type Envelope = { readonly isEnd: boolean; readonly bytes: Uint8Array };

/** Reads envelopes from a body, regardless of how it is cut. @throws AppError when the body ends inside one, or one is too large or compressed */
export async function* readEnvelopes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Envelope, void, undefined> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  let needed = HEADER_BYTES;
  let header: { isEnd: boolean } | undefined;
  for await (const chunk of body) {
    waiting.push(chunk);
    length += chunk.length;
    while (length >= needed) {
      const all = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, length);
      const bytes = all.subarray(0, needed);
      const rest = all.subarray(needed);
      waiting = rest.length === 0 ? [] : [rest];
      length = rest.length;
      if (header === undefined) {
        const flags = bytes[0]!;
        needed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(1);
        if ((flags !== 0 && flags !== END) || needed > MESSAGE_BYTES_MAX) throw broken();
        header = { isEnd: flags === END };
      } else {
        yield { ...header, bytes };
        header = undefined;
        needed = HEADER_BYTES;
      }
    }
  }
  if (length > 0 || header !== undefined) throw broken();
}

function broken(): AppError {
  return new AppError("service_unavailable", "a part of the service ended its answer early; try again", {
    retryAfterSeconds: 1,
  });
}
