import { badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import type { ViewPosition } from "./views.sql.ts";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;
const NAME_BYTES_MAX = 512;

/** Returns the cursor of the page after a view. It stays valid while views are added. */
export function writeViewCursor({ updatedAt, name, id }: ViewPosition): string {
  return Buffer.from(JSON.stringify([updatedAt, name, id])).toString("base64url");
}

/** Reads a cursor of this list. @throws bad_request */
export function readViewCursor(cursor: string): ViewPosition {
  const [updatedAt, name, id] = parse(cursor);
  if (typeof updatedAt === "string" && typeof name === "string" && typeof id === "string") {
    const isInstant = INSTANT.test(updatedAt) && !Number.isNaN(Date.parse(updatedAt));
    const isName = !name.includes("\0") && Buffer.byteLength(name) <= NAME_BYTES_MAX;
    const position = { updatedAt, name, id };
    if (isInstant && isName && isUuid(id) && writeViewCursor(position) === cursor) return position;
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

function parse(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? (value as readonly unknown[]) : [];
  } catch {
    return [];
  }
}
