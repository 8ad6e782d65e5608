import { numberOperand, readColumn, type Comparison, type Filter, type Operand } from "../columns/column.rules.ts";
import { endsWord, isStorable, readPhrase, startsWith } from "./words.rules.ts";

const KINDS = ["config.", "metrics.", "attributes."];

/**
 * Reads the filter that starts at an index of a query, given as its code points; `end` is the index after it. Returns undefined without a complete
 * filter: text that only begins like one is an ordinary word.
 */
export function readFilter(chars: readonly string[], at: number): { filter: Filter; end: number } | undefined {
  const kind = KINDS.find((text) => startsWith(chars, at, text));
  if (kind === undefined) return undefined;
  let end = at + kind.length;
  while (end < chars.length && comparisonAt(chars, end) === undefined) {
    if (endsWord(chars[end])) return undefined;
    end += 1;
  }
  const comparison = comparisonAt(chars, end);
  const column = readColumn(chars.slice(at, end).join(""));
  if (comparison === undefined || column === undefined) return undefined;
  const operand = readOperand(chars, end + comparison.length);
  if (operand === undefined || !endsWord(chars[operand.end])) return undefined;
  return { filter: { column, comparison, operand: operand.value }, end: operand.end };
}

// Two-character comparisons come before their prefixes.
const COMPARISONS: readonly Comparison[] = ["<=", ">=", "!=", "<", ">", "="];

function comparisonAt(chars: readonly string[], at: number): Comparison | undefined {
  return COMPARISONS.find((text) => startsWith(chars, at, text));
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function readOperand(chars: readonly string[], start: number): { value: Operand; end: number } | undefined {
  if (chars[start] === '"') {
    const phrase = readPhrase(chars, start + 1);
    return phrase === undefined || !isStorable(phrase.value) ? undefined : phrase;
  }
  let end = start;
  while (!endsWord(chars[end])) end += 1;
  const text = chars.slice(start, end).join("");
  return NUMBER.test(text) ? { value: numberOperand(text), end } : undefined;
}
