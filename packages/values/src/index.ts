export { isInstant, readCursor, writeCursor, type CursorField } from "./cursor.ts";
export { readDecimals, readOffset, readSeconds, OFFSET_CHARACTERS, SECONDS_CHARACTERS } from "./read-instant.ts";
export {
  exactInteger,
  isExactNumber,
  isRounded,
  keepDigits,
  parseKeeping,
  setOwn,
  type ExactNumber,
  type KeepingOptions,
  type KeptNumbers,
} from "./exact-number.ts";
export { anyNumberJson, NON_FINITE_TEXTS, nonFiniteOf, textOfToken } from "./non-finite.ts";
export { present } from "./present.ts";
