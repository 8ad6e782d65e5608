export { readDecimals, readOffset, readSeconds, OFFSET_CHARACTERS, SECONDS_CHARACTERS } from "./read-instant.ts";
