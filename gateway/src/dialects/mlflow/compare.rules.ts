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
    case "ILIKE":
      return patternOf(texts[0]!, operator === "ILIKE").test(String(value));
    default:
      throw badRequest(`${String(operator satisfies never)} does not compare values`, "filter");
  }
}

/** `%` is any text and `_` one character. */
function patternOf(pattern: string, ignoresCase: boolean): RegExp {
  const source = Array.from(pattern, (char) => (char === "%" ? ".*" : char === "_" ? "." : RegExp.escape(char)));
  // Several in a row would try every way to share the text between them.
  return new RegExp(`^${source.join("").replaceAll(/(?:\.\*)+/g, ".*")}$`, ignoresCase ? "isu" : "su");
}
