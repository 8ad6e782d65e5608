import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { PanelStart } from "./panels.rules.ts";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** Returns the cursor of a page. It stays valid while reports are added. */
export function writePanelCursor({ createdAt, id, skip }: PanelStart): string {
  return Buffer.from(JSON.stringify([createdAt, id, skip])).toString("base64url");
}

/** Reads a cursor of this list. @throws bad_request */
export function readPanelCursor(cursor: string): PanelStart {
  const [createdAt, id, skip, ...more] = parse(cursor);
  const isStart =
    typeof createdAt === "string" &&
    INSTANT.test(createdAt) &&
    !Number.isNaN(Date.parse(createdAt)) &&
    typeof id === "string" &&
    isUuid(id) &&
    Number.isSafeInteger(skip) &&
    (skip as number) >= 0 &&
    more.length === 0;
  if (!isStart) throw badRequest("cursor is not a cursor of this list", "cursor");
  return { createdAt, id, skip: skip as number };
}

function parse(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? (value as readonly unknown[]) : [];
  } catch {
    return [];
  }
}
