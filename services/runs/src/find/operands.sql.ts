import { badRequest } from "@tidemark/errors";
import type { Operand } from "@tidemark/pg/query";
import type { FindOperand } from "./find.rules.ts";
import { newestIsNonFinite } from "../columns/column-values.sql.ts";
import type { Bind } from "../read/runs.sql.ts";

/** What a search of rows `t` has. */
export type FoundRows = {
  /** By name. */
  readonly fields: Readonly<Record<string, Operand>>;
  /** Columns with documents. */
  readonly documents: readonly string[];
  readonly hasMetrics: boolean;
};

const milliseconds = (sql: string): string => `floor(extract(epoch FROM ${sql}) * 1000)::float8`;

/** What searches of runs have. */
export const foundRuns: FoundRows = {
  fields: {
    id: { sql: "t.id", type: "id" },
    name: { sql: "t.name", type: "text" },
    display_status: { sql: "t.display_status", type: "text" },
    started_at: { sql: milliseconds("t.started_at"), type: "number" },
    finished_at: {
      sql: `CASE WHEN t.status <> 'running' THEN ${milliseconds("t.finished_at")} END`,
      type: "number",
      isOptional: true,
    },
  },
  documents: ["config", "metadata"],
  hasMetrics: true,
};

/** What searches of projects have. */
export const foundProjects: FoundRows = {
  fields: {
    name: { sql: "t.name", type: "text" },
    number: { sql: "t.number::float8", type: "number" },
    created_at: { sql: milliseconds("t.created_at"), type: "number" },
    updated_at: { sql: milliseconds("t.updated_at"), type: "number" },
  },
  documents: ["metadata"],
  hasMetrics: false,
};

/** Separates the keys of a place in a document, as `runs.config_value` takes it. */
const KEY_END = "\u0001";

const DEPTH_MAX = 8;

/** The value of a document as `json`, null where a row has none. @throws bad_request */
function documentValue(rows: FoundRows, { of, path }: Pick<FindOperand, "of" | "path">, bind: Bind): string {
  if (!rows.documents.includes(of) || path.length === 0 || path.length > DEPTH_MAX) throw unknown(of, path);
  if (path.some((key) => key.includes(KEY_END) || key.includes("\0"))) throw unknown(of, path);
  const value = `runs.config_value(t.${of}, ARRAY[${bind(path.join(KEY_END))}::text])`;
  // A document without the innermost key is not parsed.
  return path.length === 1
    ? value
    : `CASE WHEN strpos(t.${of}, ${bind(`${JSON.stringify(path.at(-1))}:`)}::text) > 0 THEN ${value} END`;
}

function unknown(of: string, path: readonly string[]): Error {
  return badRequest(`${of} ${path.join(".")} cannot be searched or sorted by`, "query");
}

/** Returns the value of one operand. @throws bad_request for one that the rows do not have */
function operandOf(rows: FoundRows, { of, path, number }: FindOperand, bind: Bind): Operand {
  const [key = ""] = path;
  if (of === "field" && path.length === 1 && Object.hasOwn(rows.fields, key)) return rows.fields[key]!;
  if (of === "metric" && path.length === 1 && rows.hasMetrics && !key.includes("\0")) {
    const value = `(SELECT CASE WHEN ${newestIsNonFinite("h")} THEN 'NaN' ELSE h.latest END FROM ingest.metric_aggregates_v1 h
      WHERE h.org_id = $1 AND h.run_id = t.id AND h.key = ${bind(key)}::text COLLATE "C" OFFSET 0)`;
    return { sql: value, type: "number", isOptional: true };
  }
  const value = `(SELECT ${documentValue(rows, { of, path }, bind)} AS v OFFSET 0) d`;
  if (number) {
    const sql = `(SELECT nullif(c.num, 'NaN') FROM ${value} CROSS JOIN LATERAL runs.comparable(d.v) c)`;
    return { sql, type: "number", isOptional: true };
  }
  // A text as it is, another value as JSON.
  return {
    sql: `(SELECT coalesce(d.v #>> '{}', d.v::text) COLLATE "C" FROM ${value})`,
    type: "text",
    isOptional: true,
  };
}

/** Returns the first of some operands that is there. All are texts, or all are numbers. @throws bad_request */
export function firstOf(rows: FoundRows, operands: readonly FindOperand[], bind: Bind): Operand {
  const all = operands.map((operand) => operandOf(rows, operand, bind));
  const [first] = all;
  if (first === undefined || all.some(({ type }) => type !== first.type)) throw unknown("", []);
  if (all.length === 1) return first;
  const isOptional = all.every((operand) => operand.isOptional === true);
  return { sql: `coalesce(${all.map(({ sql }) => sql).join(", ")})`, type: first.type, isOptional };
}

/** Returns what lists of runs sort a value of a document by, numbers before texts: `num` and `txt`, no row without a value. @throws bad_request */
export function comparableOf(rows: FoundRows, operand: Pick<FindOperand, "of" | "path">, bind: Bind): string {
  return `SELECT c.num, c.txt COLLATE "C" AS txt FROM (SELECT ${documentValue(rows, operand, bind)} AS v OFFSET 0) d
    CROSS JOIN LATERAL runs.comparable(d.v) c WHERE c.num IS NOT NULL`;
}
