/** A value of an attribute (`AnyValue` of opentelemetry-proto). Lists, maps and bytes have neither text nor number. */
export type AnyValue = {
  /** The value as JSON: 64-bit integers keep their digits, bytes are base64, numbers that JSON has not are texts ("NaN", "Infinity"). */
  readonly json: string;
  /** The value if it is a text. NUL and lone surrogates are U+FFFD. */
  readonly text?: string;
  /** The value if it is a finite number. */
  readonly number?: number;
};

/** Maximum nesting depth of lists and maps; deeper values become null. */
export const VALUE_DEPTH_MAX = 64;

/** Represents the absence of a value. */
export const nullValue: AnyValue = { json: "null" };

/** Returns a text as a value. */
export function textValue(sent: string): AnyValue {
  const text = storableText(sent);
  return { json: JSON.stringify(text), text };
}

/** Returns a text without NUL and lone surrogates, which no column of text holds. */
export function storableText(sent: string): string {
  const text = sent.isWellFormed() ? sent : sent.toWellFormed();
  return text.includes("\0") ? text.replaceAll("\0", "\u{FFFD}") : text;
}

/** Returns a double as a value. */
export function doubleValue(number: number): AnyValue {
  return Number.isFinite(number) ? { json: JSON.stringify(number), number } : { json: `"${number}"` };
}

/** Returns an integer as a value, by its decimal digits. */
export function integerValue(digits: string): AnyValue {
  return { json: digits, number: Number(digits) };
}

/** Returns a boolean as a value. */
export function booleanValue(value: boolean): AnyValue {
  return { json: value ? "true" : "false" };
}

/** Returns bytes as a value. */
export function bytesValue(bytes: Uint8Array): AnyValue {
  return { json: `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64")}"` };
}

/** Returns a list as a value. */
export function listValue(values: readonly AnyValue[]): AnyValue {
  return { json: `[${values.map(({ json }) => json).join(",")}]` };
}

/** Returns a map as a value. */
export function mapValue(values: ReadonlyMap<string, AnyValue>): AnyValue {
  return { json: `{${Array.from(values, ([key, { json }]) => `${JSON.stringify(key)}:${json}`).join(",")}}` };
}
