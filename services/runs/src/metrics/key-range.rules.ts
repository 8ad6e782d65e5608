import { badRequest } from "@tidemark/errors";

/** Metric keys from `from` (included) to `end` (excluded), after `after`; `end` undefined: no upper bound. */
export type KeyRange = { readonly from: string; readonly end: string | undefined; readonly after: string };

const LAST_CODE_POINT = 0x10_ff_ff;

/**
 * Returns the first text after all texts that start with `prefix`, in code point order; undefined when
 * no such text exists. An index answers a range, but not a prefix.
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === LAST_CODE_POINT) continue;
    // The surrogates in between are not characters.
    const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
    return String.fromCodePoint(...points, next);
  }
  return undefined;
}

/** Returns the cursor that continues after `key`. */
export function keyCursor(key: string): string {
  return Buffer.from(key, "utf8").toString("base64url");
}

/** Returns the key that a cursor continues after; the empty text is the beginning. @throws bad_request */
export function readKeyCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const key = bytes.toString("utf8");
  if (keyCursor(key) !== cursor || key.includes("\0")) {
    throw badRequest("metric_cursor is not a cursor of this list", "metric_cursor");
  }
  return key;
}
