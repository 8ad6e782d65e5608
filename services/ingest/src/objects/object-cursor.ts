import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { AppError } from "@tidemark/errors";
import type { ObjectPosition } from "./explore.rules.ts";

/** Returns the cursor of the page after an object. It stays valid while objects are added. */
export function writeObjectCursor({ step, createdAt, id }: ObjectPosition): string {
  return writeCursor([Number.isFinite(step) ? step : null, createdAt, id]);
}

/** Reads a cursor. @throws object_explorer_invalid for anything that `writeObjectCursor` does not write */
export function readObjectCursor(cursor: string): ObjectPosition {
  const [step, createdAt, id] = readCursor(cursor, 3) ?? [];
  const isStep = step === null || (Number.isFinite(step) && Number(step) >= 0);
  if (isStep && isInstant(createdAt) && Number.isSafeInteger(id)) {
    return { step: step === null ? Number.NEGATIVE_INFINITY : Number(step), createdAt, id: Number(id) };
  }
  throw new AppError("object_explorer_invalid", "cursor is not a cursor of this list", { field: "cursor" });
}
