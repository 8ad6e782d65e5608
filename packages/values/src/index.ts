export { isInstant, readCursor, writeCursor, type CursorField } from "./cursor.ts";
export { readDecimals, readOffset, readSeconds, OFFSET_CHARACTERS, SECONDS_CHARACTERS } from "./read-instant.ts";
export { exactInteger, isExactNumber, isRounded, keepDigits, type ExactNumber } from "./exact-number.ts";
export { parseKeeping, setOwn, type KeepingOptions, type KeptNumbers } from "./parse-keeping.ts";
export { present } from "./present.ts";
