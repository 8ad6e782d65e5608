import { AppError } from "@tidemark/errors";
import type { Blob, ByteRange } from "./blob.ts";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const keyShape = new RegExp(`^o/${uuid}/${uuid}$`);
// "o/" and two UUIDs with a slash between them.
const keyLength = 2 + 36 + 1 + 36;

/** Wraps a driver: refuses every key, prefix and range that the driver must not receive. */
export function guarded(driver: Blob): Blob {
  return {
    put: async (key, body, options) => driver.put(checkedKey(key), body, options),
    get: async (key, range) => driver.get(checkedKey(key), range && checkedRange(range)),
    head: async (key) => driver.head(checkedKey(key)),
    remove: async (key) => driver.remove(checkedKey(key)),
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

/** Makes the error of a store that cannot work now; the original error is its cause. */
export function unavailable(cause: unknown): AppError {
  return new AppError("service_unavailable", "the object store is not available", { retryAfterSeconds: 1, cause });
}
