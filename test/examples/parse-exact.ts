type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** Parses JSON; an integer beyond 2^53 becomes a bigint, so that two documents are equal only if all digits are. */
export function parseExact(text: string): unknown {
  const keepDigits: Reviver = (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && /^-?\d{16,}$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1]);
}
