import { ID_BYTES_MIN } from "./bounds.ts";
import type { TermToken, Token } from "./token.ts";

/**
 * Whether a query is whole: every operator has its operands, every parenthesis its partner and
 * something inside, every `id:` at least 4 bytes. A query that is not is one that someone is still
 * typing; it is searched as literal text, whatever else is wrong with it.
 */
export function isComplete(tokens: readonly Token[]): boolean {
  let open = 0;
  let operandDue = true;
  for (const token of tokens) {
    switch (token.kind) {
      case "term":
        if (isShortId(token)) return false;
        operandDue = false;
        break;
      case "open":
        open += 1;
        operandDue = true;
        break;
      case "close":
        if (operandDue || open === 0) return false;
        open -= 1;
        break;
      case "and":
      case "or":
        if (operandDue) return false;
        operandDue = true;
        break;
      case "not":
        operandDue = true;
        break;
    }
  }
  return open === 0 && !operandDue;
}

function isShortId({ field, form, value }: TermToken): boolean {
  return field === "id" && form !== "regex" && Buffer.byteLength(value, "utf8") < ID_BYTES_MIN;
}
