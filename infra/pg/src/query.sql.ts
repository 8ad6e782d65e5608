import { badRequest } from "@tidemark/errors";
import { isInstant, readCursor, writeCursor } from "@tidemark/values";

/** A condition of a search, as its message has it. */
export type Condition = {
  /** field, tag, param or metric. */
  readonly of: string;
  readonly key: string;
  readonly operator: string;
  readonly texts: readonly string[];
  readonly number?: number | undefined;
  /** A missing value matches too. */
  readonly orMissing: boolean;
};

/** A dataset on which metrics were measured; an empty digest means any. */
export type DatasetName = { readonly name: string; readonly digest: string };

/** A part of an order, as its message has it. */
export type Order = {
  readonly of: string;
  readonly key: string;
  readonly descending: boolean;
  readonly dataset?: DatasetName | undefined;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Adds a value to a statement and returns its parameter. */
export type Bind = (value: unknown) => string;

/** Starts the values of a statement whose `$1` is the organization. */
export function parameters(orgId: string): { readonly values: unknown[]; readonly bind: Bind } {
  const values: unknown[] = [orgId];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** An SQL expression over a row `t`, and what it yields. Times compare as milliseconds since 1970. */
export type Operand = {
  readonly sql: string;
  readonly type: "text" | "number" | "time" | "id";
  /** It is NULL in some rows. */
  readonly isOptional?: boolean;
};

/** What a search may compare and sort by. */
export type Searched = {
  /** By name. */
  readonly fields: Readonly<Record<string, Operand>>;
  /** Values with keys of the client's choice: tags, params. */
  readonly texts: readonly string[];
  /** Returns the condition that a metric of `t` satisfies `test`, which is about the expression that it gets. */
  readonly metric?: (key: string, bind: Bind, test: (value: string) => string) => string;
  /** Returns the value of a metric of `t`, of one dataset or of any. */
  readonly metricValue?: (key: string, order: Order, bind: Bind) => string;
};

const NUMBER_OPERATORS: ReadonlySet<string> = new Set(["=", "!=", "<", "<=", ">", ">="]);

/** Returns a condition on rows `t`. @throws bad_request for a field, an operator or a value that the search does not have */
export function conditionSql(searched: Searched, condition: Condition, bind: Bind): string {
  const { of, key } = condition;
  if (of === "metric" && searched.metric !== undefined) {
    const test = numberTest(condition, bind);
    return searched.metric(key, bind, test);
  }
  return operandCondition(operandOf(searched, of, key, bind), condition, bind);
}

/** What a condition compares its operand with. */
export type Test = Omit<Condition, "of" | "key">;

/** Returns the condition that an operand passes a test. @throws bad_request for an operator or a value that it is not compared with */
export function operandCondition(operand: Operand, condition: Test, bind: Bind): string {
  const matches =
    operand.type === "number" || operand.type === "time"
      ? numberTest(condition, bind)(numeric(operand))
      : textTest(operand, condition, bind);
  return condition.orMissing ? `(${operand.sql} IS NULL OR ${matches})` : matches;
}

function operandOf(searched: Searched, of: string, key: string, bind: Bind): Operand {
  const field = of === "field" && Object.hasOwn(searched.fields, key) ? searched.fields[key] : undefined;
  if (field !== undefined) return field;
  if (searched.texts.includes(of))
    return { sql: `((t.${of}s ->> ${bind(key)}::text) COLLATE "C")`, type: "text", isOptional: true };
  throw badRequest(`${of} ${key} cannot be searched or sorted by`);
}

/** Returns the text that a field has to equal, if a condition says so. */
export function equalText(conditions: readonly Condition[], field: string): string | undefined {
  return conditions.find(({ of, key, operator }) => of === "field" && key === field && operator === "=")?.texts[0];
}

/** Returns an operand as a number. */
function numeric({ sql, type }: Operand): string {
  return type === "time" ? `floor(extract(epoch FROM ${sql}) * 1000)::float8` : sql;
}

function numberTest({ operator, number, texts }: Test, bind: Bind): (value: string) => string {
  if (!NUMBER_OPERATORS.has(operator) || number === undefined || texts.length > 0) {
    throw badRequest(`${operator} does not compare numbers`);
  }
  const asked = `${bind(number)}::float8`;
  // PostgreSQL sorts NaN above all numbers; here it equals and precedes nothing.
  if (operator === "!=") return (value) => `${value} <> ${asked}`;
  return (value) => `(${value} ${operator} ${asked} AND ${value} <> 'NaN'::float8)`;
}

function textTest({ sql, type }: Operand, { operator, texts, number }: Test, bind: Bind): string {
  if (number !== undefined || texts.some((text) => text.includes("\0"))) throw badRequest("a text is expected");
  const isList = operator === "in" || operator === "not in";
  const isNullTest = operator === "is null" || operator === "is not null";
  if (!isList && texts.length !== (isNullTest ? 0 : 1)) throw badRequest(`${operator} needs one text`);
  if (operator === "is null" || operator === "is not null") return `${sql} ${operator.toUpperCase()}`;
  if (type === "id") {
    // What is not an id equals none.
    const ids = bind(texts.filter((text) => UUID.test(text)));
    if (operator === "=" || operator === "in") return `${sql} = ANY (${ids}::uuid[])`;
    if (operator === "!=" || operator === "not in") return `${sql} <> ALL (${ids}::uuid[])`;
    throw badRequest(`${operator} does not compare ids`);
  }
  switch (operator) {
    case "=":
      return `${sql} = ${bind(texts[0])}::text`;
    case "!=":
      return `${sql} <> ${bind(texts[0])}::text`;
    case "in":
      return `${sql} = ANY (${bind(texts)}::text[])`;
    case "not in":
      return `${sql} <> ALL (${bind(texts)}::text[])`;
    case "like":
      return `${sql} LIKE ${bind(texts[0])}::text ESCAPE ''`;
    case "ilike":
      return `${sql} COLLATE "default" ILIKE ${bind(texts[0])}::text ESCAPE ''`;
    default:
      throw badRequest(`${operator} does not compare texts`);
  }
}

/** A part of an order, never NULL. */
export type SortKey = {
  readonly sql: string;
  readonly type: "text" | "number" | "time" | "id";
  readonly isDescending: boolean;
};

/**
 * Returns the parts of an order on rows `t`. `last` tells equal rows apart.
 * @throws bad_request for what the search does not sort by
 */
export function sortKeys(
  searched: Searched,
  orders: readonly Order[],
  last: readonly SortKey[],
  bind: Bind,
): SortKey[] {
  const wanted = orders.flatMap((order): SortKey[] => {
    const { of, key, descending: isDescending } = order;
    const operand: Operand =
      of === "metric" && searched.metricValue !== undefined
        ? { sql: searched.metricValue(key, order, bind), type: "number", isOptional: true }
        : operandOf(searched, of, key, bind);
    return keysOf(operand, isDescending);
  });
  return [...wanted, ...last];
}

/** Returns the parts of an order by an operand. */
export function keysOf(operand: Operand, isDescending: boolean): SortKey[] {
  const { sql, type } = operand;
  if (operand.isOptional !== true) return [{ sql, type, isDescending }];
  const isNumber = type === "number";
  const rank = `CASE WHEN ${sql} IS NULL THEN 2${isNumber ? ` WHEN ${sql} = 'NaN'::float8 THEN 1` : ""} ELSE 0 END::float8`;
  const value = isNumber
    ? `coalesce(nullif(${sql}, 'NaN'::float8), 0)`
    : type === "id"
      ? `coalesce(${sql}, '00000000-0000-0000-0000-000000000000')`
      : `coalesce(${sql}, '')`;
  return [
    { sql: rank, type: "number", isDescending: false },
    { sql: value, type, isDescending },
  ];
}

const CASTS = { text: 'text COLLATE "C"', number: "float8", time: "timestamptz", id: "uuid" } as const;

/** Returns the list of an ORDER BY. */
export function orderSql(keys: readonly SortKey[]): string {
  return keys.map(({ sql, isDescending }) => `${sql}${isDescending ? " DESC" : ""}`).join(", ");
}

/** Returns the columns `k0`, `k1`, … by which a page continues. */
export function keyColumns(keys: readonly SortKey[]): string {
  return keys.map(({ sql }, i) => `${sql} AS k${i}`).join(", ");
}

/** A row with its sort keys. */
export type Keyed = { readonly [key: `k${number}`]: string | number };

/** Returns the cursor behind a row. `form` names the search, so that a cursor of another one is refused. */
export function cursorBehind(form: string, keys: readonly SortKey[], row: Keyed): string {
  return writeCursor([form, ...keys.map((_, i) => String(row[`k${i}`]))]);
}

/** Returns the condition that a row comes after a cursor; `true` for the first page. @throws bad_request for a cursor of another search */
export function afterSql(form: string, keys: readonly SortKey[], cursor: string, bind: Bind): string {
  if (cursor === "") return "true";
  const [sentForm, ...values] = readCursor(cursor, keys.length + 1) ?? [];
  if (sentForm !== form || !keys.every(({ type }, i) => isValue(type, values[i]))) {
    throw badRequest("cursor is not a cursor of this search", "cursor");
  }
  const bound = keys.map(({ type }, i) => `${bind(values[i])}::${CASTS[type]}`);
  const [first] = keys;
  if (keys.every(({ isDescending }) => isDescending === first!.isDescending)) {
    // A walk of an index begins at such a row.
    return `(${keys.map(({ sql }) => sql).join(", ")}) ${first!.isDescending ? "<" : ">"} (${bound.join(", ")})`;
  }
  const ways = keys.map(({ sql, isDescending }, i) => {
    const equal = keys.slice(0, i).map((key, j) => `${key.sql} = ${bound[j]}`);
    return `(${[...equal, `${sql} ${isDescending ? "<" : ">"} ${bound[i]}`].join(" AND ")})`;
  });
  return `(${ways.join(" OR ")})`;
}

function isValue(type: SortKey["type"], value: unknown): value is string {
  if (typeof value !== "string" || value.includes("\0")) return false;
  if (type === "number")
    return value === "Infinity" || value === "-Infinity" || (value !== "" && Number.isFinite(Number(value)));
  if (type === "time") return isInstant(value);
  return type === "text" || UUID.test(value);
}

/** Returns how many of the rows, of at most `limit`, have together at most `bytesMax` bytes; at least one. */
export function countFitting(rows: readonly { readonly bytes: number }[], limit: number, bytesMax: number): number {
  let sum = 0;
  const beyond = rows.slice(0, limit).findIndex(({ bytes }) => (sum += bytes) > bytesMax);
  return beyond === -1 ? Math.min(rows.length, limit) : Math.max(beyond, 1);
}
