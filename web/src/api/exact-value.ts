import { exactJson } from "./exact-json.ts";

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
