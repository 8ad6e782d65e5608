import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import { parseCursor } from "../read/span-cursor.rules.ts";
import type { TracePosition } from "./trace-rows.sql.ts";

/** Returns the cursor of the page behind a trace. It stays valid while traces are added. */
export function writeTraceCursor({ startedUs, traceId, runId }: TracePosition): string {
  return Buffer.from(JSON.stringify([startedUs, traceId, runId])).toString("base64url");
}

/** Reads a cursor; the empty text means the first page. @throws bad_request */
export function readTraceCursor(cursor: string): TracePosition | undefined {
  if (cursor === "") return undefined;
  const fields = parseCursor(cursor);
  if (Array.isArray(fields) && fields.length === 3) {
    const [startedUs, traceId, runId] = fields as unknown[];
    const isTrace = typeof traceId === "string" && /^[0-9a-f]{32}$/.test(traceId);
    if (isTrace && Number.isInteger(startedUs) && typeof runId === "string" && isUuid(runId)) {
      return { startedUs: startedUs as number, traceId, runId };
    }
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
