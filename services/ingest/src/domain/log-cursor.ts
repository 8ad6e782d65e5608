import { badRequest } from "@tidemark/errors";

/** The place of a line in its stream. */
export type LogPosition = { readonly lineNumber: number; readonly id: number };

/** Before the first line. */
export const logStart: LogPosition = { lineNumber: -1, id: -1 };

const CURSOR_BYTES_MAX = 256;

/** Writes a position as the cursor of the page that follows it: JSON in unpadded base64url. */
export function writeLogCursor(position: LogPosition): string {
  return Buffer.from(JSON.stringify([position.lineNumber, position.id])).toString("base64url");
}

/** Reads a cursor back; the empty text is the start of the stream. @throws bad_request */
export function readLogCursor(cursor: string): LogPosition {
  if (cursor === "") return logStart;
  const position = cursor.length <= CURSOR_BYTES_MAX ? parse(cursor) : undefined;
  if (position === undefined) throw badRequest("cursor is not valid", "cursor");
  return position;
}

function parse(cursor: string): LogPosition | undefined {
  // Buffer skips what is no base64url instead of refusing it.
  if (!/^[A-Za-z0-9_-]+$/.test(cursor)) return undefined;
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 2) return undefined;
  const [lineNumber, id] = parts as [unknown, unknown];
  if (!Number.isSafeInteger(lineNumber) || !Number.isSafeInteger(id)) return undefined;
  return { lineNumber: lineNumber as number, id: id as number };
}
