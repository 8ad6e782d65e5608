/** A value of JSON, whose large integers keep their digits as `bigint`. */
export type ExactValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly ExactValue[]
  | { readonly [key: string]: ExactValue };

/** Lists of plain values up to this length are shown in one line. */
const SHORT_LIST = 16;

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

/** Whether a value has members by name. */
export const isGroup = (value: ExactValue): value is { readonly [key: string]: ExactValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a list is short enough for one line: few values, and no lists or groups among them. */
export const isShortList = (list: readonly ExactValue[]): boolean =>
  list.length <= SHORT_LIST && list.every((member) => typeof member !== "object" || member === null);

/** Writes a value as a person reads it: texts as they are, lists with commas, the rest as JSON. */
export function valueText(value: ExactValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "none";
  if (Array.isArray(value) && isShortList(value))
    return value.map((member: ExactValue) => valueText(member)).join(", ");
  return exactJson(value);
}

/** Writes JSON in which large integers have every digit. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    // A browser that reads such numbers writes them as well.
    typeof member === "bigint" ? (rawJSON?.(String(member)) ?? Number(member)) : member,
  );
}

/** Writes JSON with indents, each number with the digits that it has in `text`. @throws SyntaxError */
export function indentedJson(text: string): string {
  const reviver = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" && context?.source !== undefined ? (rawJSON?.(context.source) ?? value) : value;
  return JSON.stringify(JSON.parse(text, reviver), undefined, 2);
}

/** Returns what a tree has under names, one below the other; undefined where it has nothing there. */
export function valueAt(
  tree: { readonly [key: string]: ExactValue },
  names: readonly string[],
): ExactValue | undefined {
  let at: ExactValue = tree;
  for (const name of names) {
    if (!isGroup(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name]!;
  }
  return at;
}
