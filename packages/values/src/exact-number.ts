/** A number as the digits that were sent. `JSON.stringify` writes these digits. An interface, so that the compiler does not take it for an object of JSON. */
export interface ExactNumber {
  readonly rawJSON: string;
}

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

/** Returns a number in JSON's notation with its digits. @throws SyntaxError for anything else */
export function keepDigits(digits: string): ExactNumber {
  return json.rawJSON(digits);
}

/** Whether a value of JSON is a number that keeps its digits in an object. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return json.isRawJSON(value);
}

/** Returns an integer as a value of JSON: a plain number up to 2^53, digits beyond; an infinite number beyond double range. */
export function exactInteger(value: bigint): number | ExactNumber {
  const double = Number(value);
  return Number.isSafeInteger(double) || !Number.isFinite(double) ? double : keepDigits(String(value));
}

/** Integers of fewer digits are doubles. */
const longInteger = /^[+-]?\d{16,}$/;

/** Whether decimal digits are an integer that differs from the finite double that represents them. */
export function isRounded(digits: string, double: number): boolean {
  return longInteger.test(digits) && Number.isFinite(double) && BigInt(digits) !== BigInt(double);
}
