import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { ViewPosition } from "./views.sql.ts";

const NAME_BYTES_MAX = 512;

/** Returns the cursor of the page after a view. It stays valid while views are added. */
export function writeViewCursor({ updatedAt, name, id }: ViewPosition): string {
  return writeCursor([updatedAt, name, id]);
}

/** Reads a cursor of this list. @throws bad_request */
export function readViewCursor(cursor: string): ViewPosition {
  const [updatedAt, name, id] = readCursor(cursor, 3) ?? [];
  if (isInstant(updatedAt) && typeof name === "string" && typeof id === "string" && isUuid(id)) {
    if (!name.includes("\0") && Buffer.byteLength(name) <= NAME_BYTES_MAX) return { updatedAt, name, id };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
