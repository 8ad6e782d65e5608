import { readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { TracePosition } from "./trace-rows.sql.ts";

/** Returns the cursor of the page after a trace. It stays valid while traces are added. */
export function writeTraceCursor({ startedUs, traceId, runId }: TracePosition): string {
  return writeCursor([startedUs, traceId, runId]);
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
export function readTraceCursor(cursor: string): TracePosition | undefined {
  if (cursor === "") return undefined;
  const [startedUs, traceId, runId] = readCursor(cursor, 3) ?? [];
  const isTrace = typeof traceId === "string" && /^[0-9a-f]{32}$/.test(traceId);
  if (isTrace && Number.isInteger(startedUs) && typeof runId === "string" && isUuid(runId)) {
    return { startedUs: startedUs as number, traceId, runId };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
