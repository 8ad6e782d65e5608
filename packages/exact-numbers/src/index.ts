export { exactInteger, isExactNumber, isRounded, keepDigits, type ExactNumber } from "./exact-number.ts";
export { parseKeeping, setOwn, type KeepingOptions, type KeptNumbers } from "./parse-keeping.ts";
export { present } from "./present.ts";
