import { badRequest } from "@tidemark/errors";
import type { FilterClause } from "./filter.rules.ts";

/** Returns whether a value passes a clause: a text or a number, undefined where there is none. @throws bad_request for an operator that it is not compared with */
export function passes(clause: FilterClause, value: string | number | undefined): boolean {
  const { operator, texts, number } = clause;
  if (operator === "IS NULL") return value === undefined;
  if (operator === "IS NOT NULL") return value !== undefined;
  if (value === undefined) return false;
  const asked = number ?? texts[0]!;
  switch (operator) {
    case "=":
      return value === asked;
    case "!=":
      return value !== asked;
    case "<":
      return value < asked;
    case "<=":
      return value <= asked;
    case ">":
      return value > asked;
    case ">=":
      return value >= asked;
    case "IN":
      return texts.includes(String(value));
    case "NOT IN":
      return !texts.includes(String(value));
    case "LIKE":
      return isLike(String(value), texts[0]!);
    case "ILIKE":
      return isLike(String(value).toLowerCase(), texts[0]!.toLowerCase());
    default:
      throw badRequest(`${String(operator satisfies never)} does not compare values`, "filter");
  }
}

/** Whether a text is like a pattern: `%` is any text and `_` one character. Takes at most as many steps as the product of their lengths. */
function isLike(text: string, pattern: string): boolean {
  const [chars, parts] = [Array.from(text), Array.from(pattern)];
  let [at, part] = [0, 0];
  /** The last `%`, and where the text behind it begins. */
  let any: { readonly part: number; readonly at: number } | undefined;
  while (at < chars.length) {
    if (parts[part] === "%") {
      any = { part, at };
      part += 1;
    } else if (parts[part] === "_" || parts[part] === chars[at]) {
      at += 1;
      part += 1;
    } else if (any === undefined) {
      return false;
    } else {
      any = { part: any.part, at: any.at + 1 };
      [at, part] = [any.at, any.part + 1];
    }
  }
  return parts.slice(part).every((rest) => rest === "%");
}
