import { AppError } from "@tidemark/errors";
import type { Blob, ByteRange } from "./blob.ts";
import { parseUploadId, partLimits, uploadEnded } from "./upload-parts.rules.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const keyShape = new RegExp(`^o/${uuid}/${uuid}$`);
// "o/" and two UUIDs with a slash between them.
const keyLength = 2 + 36 + 1 + 36;
/** The longest validity of a signed address in SigV4, in seconds: 7 days. */
const signedSecondsMax = 604_800;

/** The functions that a driver implements itself: it is given keys. */
export type BlobDriver = Omit<Blob, "keyOf">;

/**
 * Wraps a driver: refuses every key, prefix, range, part and time that the driver must not receive. An upload id that
 * no driver makes, or whose part after the length of the parts does not match `storeId`, belongs to no upload.
 */
export function guarded(driver: BlobDriver, storeId: RegExp): Blob {
  const isUpload = (uploadId: string): boolean => storeId.test(parseUploadId(uploadId)?.storeId ?? "");
  const checkedUpload = (uploadId: string): string => {
    if (!isUpload(uploadId)) throw uploadEnded();
    return uploadId;
  };
  const { signed } = driver;
  return {
    keyOf: (orgId, objectId) => `o/${orgId}/${objectId}`,
    put: async (key, body, options) => driver.put(checkedKey(key), body, options),
    get: async (key, range) => driver.get(checkedKey(key), range && checkedRange(range)),
    head: async (key) => driver.head(checkedKey(key)),
    remove: async (key) => driver.remove(checkedKey(key)),
    kind: driver.kind,
    signed: signed && {
      put: async (key, { sha256, seconds }) =>
        signed.put(checkedKey(key), { sha256: checkedSha256(sha256), seconds: checkedSeconds(seconds) }),
      part: async (key, uploadId, partNumber, { seconds }) =>
        signed.part(checkedKey(key), checkedUpload(uploadId), checkedPart(partNumber), {
          seconds: checkedSeconds(seconds),
        }),
    },
    beginParts: async (key, { partBytes }) =>
      driver.beginParts(checkedKey(key), { partBytes: checkedPartBytes(partBytes) }),
    putPart: async (key, uploadId, partNumber, body, { size }) => {
      checkedKey(key);
      checkedPart(partNumber);
      checkedSize(size);
      const { partBytes = 0 } = parseUploadId(checkedUpload(uploadId)) ?? {};
      if (size < 1 || size > partBytes) throw new AppError("bad_request", `a part has 1 to ${partBytes} bytes`);
      return driver.putPart(key, uploadId, partNumber, body, { size });
    },
    listParts: async (key, uploadId) =>
      checkedKey(key) && isUpload(uploadId) ? driver.listParts(key, uploadId) : undefined,
    finishParts: async (key, uploadId, parts) => {
      for (const { partNumber } of parts) checkedPart(partNumber);
      return driver.finishParts(checkedKey(key), checkedUpload(uploadId), parts);
    },
    endParts: async (key) => driver.endParts(checkedKey(key)),
    list: (prefix) => driver.list(checkedPrefix(prefix)),
    ready: () => driver.ready(),
  };
}

function checkedKey(key: string): string {
  if (!keyShape.test(key)) throw new TypeError("a key has the shape o/<uuid>/<uuid>");
  return key;
}

function checkedPrefix(prefix: string): string {
  if (prefix.length > keyLength || !/^(o(\/([0-9a-f-]+(\/[0-9a-f-]*)?)?)?)?$/.test(prefix))
    throw new TypeError("a prefix is the beginning of a key");
  return prefix;
}

function checkedRange({ start, end }: ByteRange): ByteRange {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new TypeError("a range has 0 <= start <= end");
  return { start, end };
}

function checkedInteger(value: number, min: number, max: number, what: string): number {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new TypeError(`${what} is an integer from ${min} to ${max}`);
  return value;
}
const checkedPart = (value: number): number => checkedInteger(value, 1, partLimits.partsMax, "a part number");
const checkedSize = (value: number): number => checkedInteger(value, 0, Number.MAX_SAFE_INTEGER, "a length");
const checkedPartBytes = (value: number): number =>
  checkedInteger(value, partLimits.partBytesMin, partLimits.partBytesMax, "the length of the parts");
const checkedSeconds = (value: number): number => checkedInteger(value, 1, signedSecondsMax, "a validity in seconds");

function checkedSha256(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError("a SHA-256 has 64 lower-case hexadecimal digits");
  return sha256;
}

/** Makes the error of a store that cannot work now; the original error is its cause. */
export function unavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "the object store is not available", { retryAfterSeconds: 1, cause });
}
