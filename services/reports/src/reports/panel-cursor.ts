import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { PanelStart } from "./panels.rules.ts";

/** Returns the cursor of a page. It stays valid while reports are added. */
export function writePanelCursor({ createdAt, id, skip }: PanelStart): string {
  return writeCursor([createdAt, id, skip]);
}

/** Reads a cursor of this list. @throws bad_request */
export function readPanelCursor(cursor: string): PanelStart {
  const [createdAt, id, skip] = readCursor(cursor, 3) ?? [];
  const isSkip = Number.isSafeInteger(skip) && (skip as number) >= 0;
  if (isInstant(createdAt) && typeof id === "string" && isUuid(id) && isSkip) {
    return { createdAt, id, skip: skip as number };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
