const SECOND_US = 1_000_000;

/**
 * A writer of instants, for columns of them: microseconds since the Unix epoch as RFC 3339 in UTC,
 * without trailing zeros. Neighbours in a column are often equal or of one second, so the writer
 * remembers the latest.
 */
export function writeInstants(): (micros: number) => string {
  let latest = Number.NaN;
  let text = "";
  let latestSecond = Number.NaN;
  let whole = "";
  return (micros) => {
    if (micros === latest) return text;
    const second = Math.floor(micros / SECOND_US);
    if (second !== latestSecond) {
      whole = new Date(second * 1000).toISOString().slice(0, -".000Z".length);
      latestSecond = second;
    }
    const fraction = micros - second * SECOND_US;
    text = fraction === 0 ? `${whole}Z` : `${whole}.${decimals(fraction)}Z`;
    latest = micros;
    return text;
  };
}

function decimals(fractionUs: number): string {
  const digits = String(fractionUs).padStart(6, "0");
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}
