import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { FIRST_PLACE, type ObjectPlace } from "./object-place.rules.ts";

/** Returns the cursor of a place and of a number that its list adds. */
export function writePlaceCursor({ step, createdAt, id }: ObjectPlace, number = 0): string {
  return writeCursor([Number.isFinite(step) ? step : null, createdAt, id, number]);
}

/** Reads a cursor; the empty one stands for the first place. @throws bad_request for anything that `writePlaceCursor` does not write */
export function readPlaceCursor(cursor: string): { readonly place: ObjectPlace; readonly number: number } {
  if (cursor === "") return { place: FIRST_PLACE, number: 0 };
  const [step, createdAt, id, number] = readCursor(cursor, 4) ?? [];
  const isStep = step === null || (Number.isFinite(step) && Number(step) >= 0);
  if (isStep && isInstant(createdAt) && Number.isSafeInteger(id) && Number.isSafeInteger(number)) {
    const order = step === null ? Number.NEGATIVE_INFINITY : Number(step);
    return { place: { step: order, createdAt, id: Number(id) }, number: Number(number) };
  }
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
