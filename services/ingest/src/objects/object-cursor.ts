import { AppError } from "@tidemark/errors";
import type { ObjectPosition } from "./explore.rules.ts";

const INSTANT = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** Returns the cursor of the page after an object. It stays valid while objects are added. */
export function writeObjectCursor({ step, createdAt, id }: ObjectPosition): string {
  return Buffer.from(JSON.stringify([Number.isFinite(step) ? step : null, createdAt, id])).toString("base64url");
}

/** Reads a cursor. @throws object_explorer_invalid for anything that `writeObjectCursor` does not write */
export function readObjectCursor(cursor: string): ObjectPosition {
  const position = parse(cursor);
  if (position !== undefined && writeObjectCursor(position) === cursor) return position;
  throw new AppError("object_explorer_invalid", "cursor is not a cursor of this list", { field: "cursor" });
}

function parse(cursor: string): ObjectPosition | undefined {
  try {
    const fields: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (!Array.isArray(fields) || fields.length !== 3) return undefined;
    const [step, createdAt, id] = fields as unknown[];
    if (step !== null && !(Number.isFinite(step) && Number(step) >= 0)) return undefined;
    if (!Number.isSafeInteger(id) || typeof createdAt !== "string" || !isInstant(createdAt)) return undefined;
    return { step: step === null ? Number.NEGATIVE_INFINITY : Number(step), createdAt, id: Number(id) };
  } catch {
    return undefined;
  }
}

function isInstant(text: string): boolean {
  const ms = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  // Only PostgreSQL would refuse 30 February.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 19));
}
