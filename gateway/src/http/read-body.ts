import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { badRequest } from "@tidemark/errors";
import { bodyTooLarge, type BodyRead } from "./body-limit.ts";
import { inflate } from "./inflate.ts";

/** What gzip may add to a body that does not compress. */
const GZIP_OVERHEAD_BYTES = 1024;

/**
 * Reads a body of at most `bytesMax` decoded bytes, from plain or gzip. A larger one is refused as
 * soon as that is certain; what the client still sends is then read and thrown away, because closing
 * the connection under it would lose the answer.
 */
export function readBody(stream: Readable, headers: IncomingHttpHeaders, bytesMax: number, read: BodyRead): void {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
  const gzip = encoding === "gzip" || encoding === "x-gzip";
  if (!gzip && encoding !== "" && encoding !== "identity") {
    stream.resume();
    read(badRequest("the content encoding must be gzip or none"));
    return;
  }
  const wireBytesMax = gzip ? bytesMax + GZIP_OVERHEAD_BYTES : bytesMax;
  collect(stream, Number(headers["content-length"] ?? 0), wireBytesMax, (collected) => {
    if (collected === "too large") read(bodyTooLarge(bytesMax));
    else if (collected === "cut off") read(badRequest("the body ended early"));
    else if (gzip && collected.length > 0) inflate(collected, bytesMax, read);
    else read(null, collected);
  });
}

type Collected = Buffer | "too large" | "cut off";

function collect(stream: Readable, announced: number, bytesMax: number, end: (collected: Collected) => void): void {
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
    if (length <= bytesMax) {
      chunks.push(chunk);
      return;
    }
    stop();
    // Somebody has to listen, or a client that goes away now would end the process.
    stream.on("error", () => undefined).resume();
    end("too large");
  };
  const onEnd = (): void => {
    stop();
    const [first] = chunks;
    end(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  };
  const onError = (): void => {
    stop();
    end("cut off");
  };
  stream.on("data", onData).on("end", onEnd).on("error", onError);
}
