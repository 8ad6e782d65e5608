import type { TermToken, Token } from "./tokenize.ts";

/** Shortest text after `id:`, in bytes as UTF-8; while it is shorter, the query counts as still being typed. */
export const ID_BYTES_MIN = 4;

/**
 * Returns whether a query is complete: every operator has its operands, every parenthesis its partner and
 * something inside, every `id:` at least 4 bytes. An incomplete query is one that is still being typed;
 * it is searched as literal text, even if it is also invalid.
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
      case "filter":
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
  return field === "id" && form !== "regex" && new TextEncoder().encode(value).length < ID_BYTES_MIN;
}
