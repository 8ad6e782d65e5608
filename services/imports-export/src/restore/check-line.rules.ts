import { isAppError } from "@tidemark/errors";
import type { PlacedLine } from "./new-ids.rules.ts";
import { lineFault } from "./piece-facts.rules.ts";
import { checkRow } from "./check-row.rules.ts";

/** Refuses a line that its service would refuse. @throws LineFault */
export function checkLine({ number, line }: PlacedLine): void {
  try {
    checkRow(line);
  } catch (error) {
    if (isAppError(error)) throw lineFault(number, error.message);
    throw error;
  }
}
