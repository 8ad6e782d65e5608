/** A whole number of at least 16 digits as a value; it may stand in a text as well, which only costs time. */
const LONG_INTEGER = /[:[,]\s*-?\d{16,}\s*[,\]}]/;

// TC39 "JSON.parse source text access": browsers have it, the compiler's library does not yet.
const { rawJSON } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/**
 * Reads JSON whose integers keep every digit: those whose digits a number of JavaScript would change, such as seeds, are `bigint`. What a
 * program wrote from a double, such as a metric, is always a number.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  // A reviver is called for every value.
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  const reviver = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const source = typeof value === "number" && !Number.isSafeInteger(value) ? context?.source : undefined;
    return source !== undefined && /^-?\d+$/.test(source) && String(value) !== source ? BigInt(source) : value;
  };
  return JSON.parse(text, reviver);
}

/** Writes JSON in which large integers have every digit. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    // A browser that reads such numbers writes them as well.
    typeof member === "bigint" ? (rawJSON?.(String(member)) ?? Number(member)) : member,
  );
}
