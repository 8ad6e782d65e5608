/**
 * One text for all ways to write a number: `1`, `1.0` and `10e-1` give the same, `-0` and `0` too,
 * and two numbers that differ in any digit do not, also where a double could not tell them apart.
 * Takes a number in JSON's notation.
 */
export function exactDecimal(number: string): string {
  const negative = number.startsWith("-");
  const [mantissa = "", exponent = "0"] = number.slice(negative ? 1 : 0).split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  // Loops, because an expression for trailing zeros takes quadratic time on hostile digits.
  let first = 0;
  while (digits[first] === "0") first += 1;
  if (first === digits.length) return "0";
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return `${negative ? "-" : ""}${digits.slice(first, end)}e${power}`;
}
