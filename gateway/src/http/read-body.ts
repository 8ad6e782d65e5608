import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { badRequest } from "@tidemark/errors";
import type { BodyAccount } from "./body-memory.ts";
import { bodyTooLarge, type BodyRead } from "./body-limit.ts";
import { inflate } from "./inflate.ts";

/** What gzip may add to a body that does not compress. */
const GZIP_OVERHEAD_BYTES = 1024;

/**
 * Reads a body of at most `bytesMax` decoded bytes, from plain or gzip. A larger one is refused as
 * soon as that is certain; what the client still sends is then read and thrown away, because closing
 * the connection under it would lose the answer. Bytes are charged to `account`, whose refusal is handed on in the same way.
 */
export function readBody(
  stream: Readable,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  account: BodyAccount | undefined,
  read: BodyRead,
): void {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  const gzip = encoding === "gzip" || encoding === "x-gzip";
  if (!gzip && encoding !== "" && encoding !== "identity") {
    stream.resume();
    read(badRequest("the content encoding must be gzip or none"));
    return;
  }
  const wireBytesMax = gzip ? bytesMax + GZIP_OVERHEAD_BYTES : bytesMax;
  const decoded: BodyRead = (error, body) => {
    const refusal = error ?? charge(account, body?.length ?? 0);
    if (refusal === null) read(null, body);
    else read(refusal);
  };
  collect(stream, Number(headers["content-length"] ?? 0), wireBytesMax, account, (collected) => {
    if (collected === "too large") read(bodyTooLarge(bytesMax));
    else if (collected instanceof Error) read(collected);
    else if (gzip && collected.length > 0) inflate(collected, bytesMax, decoded);
    else read(null, collected);
  });
}

/** Why the bytes may not be held; null: they are. */
function charge(account: BodyAccount | undefined, bytes: number): Error | null {
  try {
    account?.take(bytes);
    return null;
  } catch (refusal) {
    return refusal as Error;
  }
}

type Collected = Buffer | "too large" | Error;

function collect(
  stream: Readable,
  announced: number,
  bytesMax: number,
  account: BodyAccount | undefined,
  end: (collected: Collected) => void,
): void {
  if (announced > bytesMax) {
    stream.resume();
    end("too large");
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (): void => {
    stream.off("data", onData).off("end", onEnd).off("error", onError);
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    const refusal = charge(account, chunk.length);
    if (length <= bytesMax && refusal === null) {
      chunks.push(chunk);
      return;
    }
    stop();
    // Somebody has to listen, or a client that goes away now would end the process.
    stream.on("error", () => undefined).resume();
    end(refusal ?? "too large");
  };
  const onEnd = (): void => {
    stop();
    const [first] = chunks;
    end(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  };
  const onError = (): void => {
    stop();
    end(badRequest("the body ended early"));
  };
  stream.on("data", onData).on("end", onEnd).on("error", onError);
}
