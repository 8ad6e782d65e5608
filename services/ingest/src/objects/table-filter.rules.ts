import { badRequest } from "@tidemark/errors";
import { TABLE_FILTER } from "@tidemark/limits";
import { lowerAscii, type Comparison } from "@tidemark/values/run-search";

/** What a cell is compared with: a number by its digits, a text, or a truth value. */
type Operand =
  | { readonly kind: "number"; readonly digits: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "truth"; readonly json: "true" | "false" };

/** A condition on a column of a table. */
export type Condition = {
  readonly column: string;
  readonly comparison: Comparison;
  readonly operand: Operand;
  /** The rows that do not fulfill it. */
  readonly isNegated: boolean;
};

// Each alternative begins with a character of its own, so that no text is read twice.
const CONDITION =
  /^\s*(-?)(?:"((?:[^"\\]|\\.)*)"|([^\s"<>=!][^\s<>=!]*))\s*(<=|>=|!=|<|>|=)\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))(?=\s|$)/su;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Reads the filter of a table: `loss<0.5 "val acc">=0.9 label="cat" ok=true`, with the operators of the search of runs. A row has to fulfill every condition;
 * `-` directly before one negates it.
 * @throws bad_request with the place of the fault
 */
export function readFilter(text: string): readonly Condition[] {
  const { bytesMax, conditionsMax } = TABLE_FILTER;
  if (Buffer.byteLength(text) > bytesMax) throw badRequest(`filter must have at most ${bytesMax} bytes`, "filter");
  const conditions: Condition[] = [];
  for (let at = 0; text.slice(at).trim() !== "";) {
    const [all, minus, quoted, plain, comparison, phrase, word] = CONDITION.exec(text.slice(at)) ?? [];
    const operand = phrase === undefined ? operandOf(word) : ({ kind: "text", text: unescaped(phrase) } as const);
    if (all === undefined || operand === undefined) throw fault(text, at);
    conditions.push({
      column: plain ?? unescaped(quoted ?? ""),
      comparison: comparison as Comparison,
      operand,
      isNegated: minus === "-",
    });
    at += all.length;
  }
  if (conditions.length > conditionsMax)
    throw badRequest(`filter must have at most ${conditionsMax} conditions`, "filter");
  return conditions;
}

function operandOf(word: string | undefined): Operand | undefined {
  if (word === "true" || word === "false") return { kind: "truth", json: word };
  return word !== undefined && NUMBER.test(word) ? { kind: "number", digits: word } : undefined;
}

const unescaped = (text: string): string => text.replaceAll(/\\(["\\])/g, "$1");

function fault(text: string, at: number) {
  const rest = text.slice(at);
  const position = at + (rest.length - rest.trimStart().length) + 1;
  return badRequest(
    `filter must be conditions such as loss<0.5 or "a name"="a text"; there is none at ${position}`,
    "filter",
  );
}

const INTEGER = /^[+-]?\d+$/;

/** Returns the order of two numbers by their digits: integers beyond 2^53 exactly. */
function compareNumbers(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  if (difference !== 0 && !Number.isNaN(difference)) return difference;
  if (!INTEGER.test(a) || !INTEGER.test(b)) return 0;
  const [left, right] = [BigInt(a.replace("+", "")), BigInt(b.replace("+", ""))];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns whether a cell, given as JSON, is a number. */
function isNumberCell(json: string): boolean {
  const first = json.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}

/** Returns whether a cell, given as JSON, fulfills a condition. One that is missing or null fulfills none, negated or not. */
export function fulfills(json: string | undefined, { comparison, operand, isNegated }: Condition): boolean {
  if (json === undefined || json === "null") return false;
  const order = orderOf(json, operand);
  return (order === undefined ? comparison === "!=" : holds(order, comparison)) !== isNegated;
}

/** Returns the order of a cell and an operand; undefined for cells of another kind, which only differ. */
function orderOf(json: string, operand: Operand): number | undefined {
  if (operand.kind === "number") return isNumberCell(json) ? compareNumbers(json, operand.digits) : undefined;
  if (operand.kind === "truth") return json === operand.json ? 0 : undefined;
  if (!json.startsWith('"')) return undefined;
  return compareTexts(JSON.parse(json) as string, operand.text);
}

function holds(order: number, comparison: Comparison): boolean {
  switch (comparison) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
  }
}

/** Compares texts by their code points. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Returns whether the text of a cell, given as JSON, has a part; `part` is in lower case. */
export function hasText(json: string, part: string): boolean {
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  return lowerAscii(text).includes(part);
}

/** Numbers come first, then texts, then all else; what is missing or null is the last in both directions. */
const RANKS = { number: 0, text: 1, other: 2, missing: 3 } as const;

/** What rows are sorted by: the cell of a row, given as JSON. */
export type SortKey = { readonly rank: number; readonly value: string };

/** Returns what a row is sorted by. */
export function sortKeyOf(json: string | undefined): SortKey {
  if (json === undefined || json === "null") return { rank: RANKS.missing, value: "" };
  if (isNumberCell(json)) return { rank: RANKS.number, value: json };
  if (json.startsWith('"')) return { rank: RANKS.text, value: JSON.parse(json) as string };
  return { rank: RANKS.other, value: json };
}

/** Returns the order of two rows. */
export function compareKeys(a: SortKey, b: SortKey, descending: boolean): number {
  if (a.rank === RANKS.missing || b.rank === RANKS.missing) return a.rank - b.rank;
  const order =
    a.rank !== b.rank
      ? a.rank - b.rank
      : a.rank === RANKS.number
        ? compareNumbers(a.value, b.value)
        : compareTexts(a.value, b.value);
  return descending ? -order : order;
}
