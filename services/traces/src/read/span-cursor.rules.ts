import { readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { spanIdText } from "../fold/span-ids.rules.ts";
import type { SpanPosition } from "./choose-spans.rules.ts";

/** Returns the cursor of the page after a span. It stays valid while spans are added. */
export function writeSpanCursor({ startUs, idHigh, idLow }: SpanPosition): string {
  return writeCursor([startUs, spanIdText(idHigh, idLow)]);
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
export function readSpanCursor(cursor: string): SpanPosition | undefined {
  if (cursor === "") return undefined;
  const [startUs, id] = readCursor(cursor, 2) ?? [];
  if (Number.isInteger(startUs) && typeof id === "string" && /^[0-9a-f]{16}$/.test(id)) {
    const [idHigh, idLow] = [Number.parseInt(id.slice(0, 8), 16), Number.parseInt(id.slice(8), 16)];
    return { startUs: startUs as number, idHigh, idLow };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
