import { badRequest } from "@tidemark/errors";
import { readTokens, type Token } from "./filter-tokens.rules.ts";

/** What a clause compares. */
export type FilterKind = "attribute" | "metric" | "param" | "tag" | "dataset";

/** How a value compares: a listed one is a text that also compares with lists. */
type ValueType = "text" | "number" | "listed";

/** What one search of MLflow may filter and sort by. */
export type FilterForm = {
  /** Attributes with what they are compared as. */
  readonly attributes: Readonly<Record<string, ValueType>>;
  /** Other names of attributes. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The other kinds that it has. */
  readonly kinds: readonly Exclude<FilterKind, "attribute">[];
  /** Attributes that it may be sorted by. */
  readonly sorted: readonly string[];
};

export type FilterOperator =
  | "="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "LIKE"
  | "ILIKE"
  | "IN"
  | "NOT IN"
  | "IS NULL"
  | "IS NOT NULL";

/** A clause of a filter. It has a number, or one text, or the texts of a list, or for tests of null nothing. */
export type FilterClause = {
  readonly kind: FilterKind;
  readonly key: string;
  readonly operator: FilterOperator;
  readonly texts: readonly string[];
  readonly number: number | undefined;
};

/** A part of an order. */
export type SortPart = { readonly kind: FilterKind; readonly key: string; readonly isDescending: boolean };

const kindsByType = new Map<string, FilterKind>([
  ["metric", "metric"],
  ["metrics", "metric"],
  ["param", "param"],
  ["params", "param"],
  ["parameter", "param"],
  ["parameters", "param"],
  ["tag", "tag"],
  ["tags", "tag"],
  ["attribute", "attribute"],
  ["attributes", "attribute"],
  ["attr", "attribute"],
  ["run", "attribute"],
  ["dataset", "dataset"],
  ["datasets", "dataset"],
]);

const DATASET_KEYS: ReadonlySet<string> = new Set(["name", "digest", "context"]);

/** More clauses than a person writes; each costs time on every row. */
const CLAUSES_MAX = 100;
const SORT_PARTS_MAX = 20;

const fault = (text: string): Error => badRequest(text, "filter");

/**
 * Reads a filter: clauses `[type.]key operator value` that are joined by AND, keywords in any case. None for an empty text.
 * @throws bad_request
 */
export function readFilter(text: string, form: FilterForm): FilterClause[] {
  const tokens = readTokens(text);
  if (tokens.length === 0) return [];
  const reader = createReader(tokens);
  const clauses = [readClause(reader, form)];
  while (!reader.isAtEnd()) {
    if (reader.keyword() !== "AND") throw fault("clauses of the filter must be joined by AND");
    reader.next();
    if (clauses.push(readClause(reader, form)) > CLAUSES_MAX) {
      throw fault(`the filter must have at most ${CLAUSES_MAX} clauses`);
    }
  }
  return clauses;
}

type Reader = {
  /** Takes the next token. @throws bad_request at the end */
  next(): Token;
  /** The next token as a keyword in upper case, if it is a word. */
  keyword(): string | undefined;
  /** Whether the next token is this sign. */
  isSign(sign: string): boolean;
  isAtEnd(): boolean;
};

function createReader(tokens: readonly Token[]): Reader {
  let at = 0;
  return {
    next() {
      const token = tokens[at++];
      if (token === undefined) throw fault("the filter ends within a clause");
      return token;
    },
    keyword: () => (tokens[at]?.kind === "word" ? tokens[at]!.text.toUpperCase() : undefined),
    isSign: (sign) => tokens[at]?.kind === "sign" && tokens[at]!.text === sign,
    isAtEnd: () => at >= tokens.length,
  };
}

/** The name that a clause or a part of an order begins with. @throws bad_request for one that the search does not have */
function readName(reader: Reader, form: FilterForm): { kind: FilterKind; key: string } {
  const token = reader.next();
  if (token.kind !== "word" && token.kind !== "name" && token.kind !== "text") {
    throw fault(`a name is expected instead of ${token.text}`);
  }
  const dot = token.kind === "word" ? token.text.indexOf(".") : -1;
  const isTyped = dot !== -1 && kindsByType.has(token.text.slice(0, dot));
  if (dot !== -1 && !isTyped) throw fault(`the filter has no ${token.text}`);
  const kind = isTyped ? kindsByType.get(token.text.slice(0, dot))! : "attribute";
  let key = isTyped ? token.text.slice(dot + 1) : token.text;
  // The key of `metrics.` stands in quotes behind it.
  if (isTyped && key === "") {
    const quoted = reader.next();
    if (quoted.kind !== "name" && !(quoted.kind === "text" && quoted.quote === '"'))
      throw fault(`${token.text} needs a key`);
    key = quoted.text;
  }
  if (token.kind === "text" && token.quote !== '"') throw fault(`a name is expected instead of ${token.text}`);
  return { kind, key: requireKey(kind, key, form) };
}

function requireKey(kind: FilterKind, key: string, form: FilterForm): string {
  if (kind === "attribute") {
    const name = form.aliases !== undefined && Object.hasOwn(form.aliases, key) ? form.aliases[key]! : key;
    if (Object.hasOwn(form.attributes, name)) return name;
    throw fault(`the filter has no attribute ${key}`);
  }
  if (!form.kinds.includes(kind) || (kind === "dataset" && !DATASET_KEYS.has(key)))
    throw fault(`the filter has no ${kind} ${key}`);
  return key;
}

function typeOf({ kind, key }: { kind: FilterKind; key: string }, form: FilterForm): ValueType {
  if (kind === "metric") return "number";
  if (kind === "dataset") return "listed";
  return kind === "attribute" ? form.attributes[key]! : "text";
}

const NUMBER_OPERATORS: readonly string[] = ["=", "!=", "<", "<=", ">", ">="];
const TEXT_OPERATORS: readonly string[] = ["=", "!=", "LIKE", "ILIKE"];

function readClause(reader: Reader, form: FilterForm): FilterClause {
  const name = readName(reader, form);
  const type = typeOf(name, form);
  const operator = readOperator(reader);
  const what = `${name.kind} ${name.key}`;
  const clause = { ...name, operator, texts: [], number: undefined };
  if (operator === "IS NULL" || operator === "IS NOT NULL") {
    if (name.kind === "param" || name.kind === "tag") return clause;
    throw fault(`${what} cannot be compared with ${operator}`);
  }
  if (operator === "IN" || operator === "NOT IN") {
    if (type === "listed") return { ...clause, texts: readList(reader) };
    throw fault(`${what} cannot be compared with ${operator}`);
  }
  if (!(type === "number" ? NUMBER_OPERATORS : TEXT_OPERATORS).includes(operator)) {
    throw fault(`${what} cannot be compared with ${operator}`);
  }
  const value = reader.next();
  if (type === "number") {
    if (value.kind !== "number") throw fault(`${what} is compared with a number without quotes`);
    return { ...clause, number: Number(value.text) };
  }
  if (value.kind !== "text") throw fault(`${what} is compared with a text in quotes`);
  return { ...clause, texts: [value.text] };
}

function readOperator(reader: Reader): FilterOperator {
  const token = reader.next();
  if (token.kind === "sign" && NUMBER_OPERATORS.includes(token.text)) return token.text as FilterOperator;
  const word = token.kind === "word" ? token.text.toUpperCase() : "";
  if (word === "LIKE" || word === "ILIKE" || word === "IN") return word;
  if (word === "NOT" && reader.keyword() === "IN") {
    reader.next();
    return "NOT IN";
  }
  if (word === "IS") {
    const isNegated = reader.keyword() === "NOT";
    if (isNegated) reader.next();
    if (reader.keyword() === "NULL") {
      reader.next();
      return isNegated ? "IS NOT NULL" : "IS NULL";
    }
  }
  throw fault(`the filter has no operator ${token.text}`);
}

function readList(reader: Reader): string[] {
  if (!reader.isSign("(")) throw fault("a list in parentheses is expected");
  reader.next();
  const texts: string[] = [];
  for (;;) {
    const item = reader.next();
    if (item.kind !== "text") throw fault("a list has texts in quotes");
    texts.push(item.text);
    const sign = reader.next();
    if (sign.kind === "sign" && sign.text === ")") return texts;
    if (sign.kind !== "sign" || sign.text !== ",") throw fault("texts of a list are separated by commas");
  }
}

/** Reads an order: each part is `[type.]key`, perhaps with ASC or DESC. @throws bad_request */
export function readOrderBy(parts: readonly string[], form: FilterForm): SortPart[] {
  if (parts.length > SORT_PARTS_MAX) throw badRequest(`order_by must have at most ${SORT_PARTS_MAX} items`, "order_by");
  return parts.map((part) => {
    const reader = createReader(readTokens(part));
    const name = readName(reader, form);
    if (name.kind === "dataset" || (name.kind === "attribute" && !form.sorted.includes(name.key))) {
      throw badRequest(`order_by has no ${name.kind} ${name.key}`, "order_by");
    }
    const direction = reader.isAtEnd() ? "ASC" : reader.keyword();
    if (!reader.isAtEnd()) reader.next();
    if ((direction !== "ASC" && direction !== "DESC") || !reader.isAtEnd()) {
      throw badRequest("an item of order_by is a name, perhaps with ASC or DESC", "order_by");
    }
    return { ...name, isDescending: direction === "DESC" };
  });
}
