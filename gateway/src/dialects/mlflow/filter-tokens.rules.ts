import { badRequest } from "@tidemark/errors";

/** A piece of a filter: a word with its dots, a number, a sign, a text in single or double quotes, a name in backticks. */
export type Token =
  | { readonly kind: "word" | "number" | "sign" | "name"; readonly text: string }
  | { readonly kind: "text"; readonly text: string; readonly quote: string };

const token =
  /\s*(?:(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\p{L}\p{N}\p{M}_.])|(?<word>[\p{L}\p{N}\p{M}_][\p{L}\p{N}\p{M}_.]*)|(?<sign>!=|<=|>=|[=<>(),])|'(?<single>[^']*)'|"(?<double>[^"]*)"|`(?<name>[^`]*)`)/uy;

/** Splits a filter into its tokens. @throws bad_request for signs that filters do not have, and for quotes without an end */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  // Texts with NUL are never found, and cannot be compared.
  if (text.includes("\0")) throw badRequest("the filter must not contain NUL", "filter");
  const scanner = new RegExp(token);
  const end = text.trimEnd().length;
  while (scanner.lastIndex < end) {
    const { lastIndex } = scanner;
    const groups = scanner.exec(text)?.groups;
    if (groups === undefined)
      throw badRequest(`the filter has a fault at ${JSON.stringify(text.slice(lastIndex, lastIndex + 40))}`, "filter");
    tokens.push(tokenOf(groups));
  }
  return tokens;
}

function tokenOf({ number, word, sign, single, double, name }: Record<string, string | undefined>): Token {
  if (number !== undefined) return { kind: "number", text: number };
  if (word !== undefined) return { kind: "word", text: word };
  if (sign !== undefined) return { kind: "sign", text: sign };
  if (single !== undefined) return { kind: "text", text: single, quote: "'" };
  return double === undefined ? { kind: "name", text: name! } : { kind: "text", text: double, quote: '"' };
}
