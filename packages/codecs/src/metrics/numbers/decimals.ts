import { DECIMAL_DIGITS_MAX } from "./number-layout.ts";

/** Numbers that are these integers over 10^digits. */
export type Decimals = { readonly integers: Float64Array; readonly digits: number };

/** Sums and differences of two integers up to this one are exact. */
const INTEGER_MAX = 2 ** 52;

const POWERS = Array.from({ length: DECIMAL_DIGITS_MAX + 1 }, (_, digits) => 10 ** digits);

/** Returns 10^digits, for digits up to {@link DECIMAL_DIGITS_MAX}. */
export function powerOfTen(digits: number): number {
  return POWERS[digits]!;
}

/**
 * Returns the numbers as integers over the least power of ten that restores each of them bit for bit; null if there is none, as for -0 and for
 * numbers of full precision.
 */
export function decimalsOf(numbers: Float64Array): Decimals | null {
  const digits = digitsOf(numbers);
  if (digits < 0) return null;
  if (digits === 0) return areWithin(numbers, INTEGER_MAX) ? { integers: numbers, digits } : null;
  const power = powerOfTen(digits);
  const integers = new Float64Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    const integer = Math.round(number * power);
    if (integer / power !== number || !(Math.abs(integer) <= INTEGER_MAX)) return null;
    integers[i] = integer;
  }
  return { integers, digits };
}

function areWithin(numbers: Float64Array, limit: number): boolean {
  for (let i = 0; i < numbers.length; i++) if (!(Math.abs(numbers[i]!) <= limit)) return false;
  return true;
}

/** Returns the digits behind the decimal point that suffice for all of the numbers, or -1. */
function digitsOf(numbers: Float64Array): number {
  let digits = 0;
  let power = 1;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    if (Math.trunc(number) === number) {
      if (number === 0 && Object.is(number, -0)) return -1;
      continue;
    }
    while (Math.round(number * power) / power !== number) {
      digits += 1;
      if (digits > DECIMAL_DIGITS_MAX) return -1;
      power = powerOfTen(digits);
    }
  }
  return digits;
}
