import { badRequest } from "@tidemark/errors";
import { spanIdText } from "../fold/span-ids.rules.ts";
import type { SpanPosition } from "./choose-spans.rules.ts";

/** Returns the cursor of the page behind a span. It stays valid while spans are added. */
export function writeSpanCursor({ startUs, idHigh, idLow }: SpanPosition): string {
  return Buffer.from(JSON.stringify([startUs, spanIdText(idHigh, idLow)])).toString("base64url");
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
export function readSpanCursor(cursor: string): SpanPosition | undefined {
  if (cursor === "") return undefined;
  const fields = parseCursor(cursor);
  if (Array.isArray(fields) && fields.length === 2) {
    const [startUs, id] = fields as unknown[];
    if (Number.isInteger(startUs) && typeof id === "string" && /^[0-9a-f]{16}$/.test(id)) {
      const [idHigh, idLow] = [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8), 16)];
      return { startUs: startUs as number, idHigh, idLow };
    }
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** Returns what a cursor holds; undefined for text that is not one. */
export function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
