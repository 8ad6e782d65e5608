import { promisify } from "node:util";
import { gzip } from "node:zlib";

const gzipAsync = promisify(gzip);

/** Shorter answers are not worth compressing. */
const COMPRESS_BYTES_MIN = 1024;

/** Returns whether a client asked for gzip (RFC 9110, Accept-Encoding); `*` alone does not ask for it. */
export function acceptsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (typeof acceptEncoding !== "string") return false;
  return acceptEncoding.split(",").some((item) => {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return (coding === "gzip" || coding === "x-gzip") && !parameters.some((part) => /^q=0(?:\.0{0,3})?$/.test(part));
  });
}

/** Returns the answer as gzip; `undefined` when it is too short to be worth compressing. */
export async function compress(text: string | Buffer): Promise<Buffer | undefined> {
  if (Buffer.byteLength(text) < COMPRESS_BYTES_MIN) return undefined;
  // Level 1 costs a third of the default's time for an answer a tenth larger.
  return gzipAsync(text, { level: 1 });
}
