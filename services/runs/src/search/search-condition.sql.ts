import type { Comparison, Filter, Operand } from "@tidemark/values/run-search";
import type { Bind } from "../read/runs.sql.ts";
import type { ResolvedTree, TextField } from "./tree.rules.ts";
import { comparableValue } from "../columns/column-values.sql.ts";

/** A search that SQL alone can decide: terms about projects are resolved, and regular expressions are replaced by their literals. */
export type PlainTree = ResolvedTree<
  /** One of the indexed texts contains the text. */
  | { readonly kind: "holds"; readonly column: IndexedText; readonly text: string }
  /** The literals of a regular expression say nothing about the run. */
  | { readonly kind: "irregular" }
>;

/** The texts with a trigram index. */
export type IndexedText = "summary" | "notes" | "config" | "metadata";

/** Returns the condition that is true of a row `t` of runs.found_runs exactly if the tree finds its run. */
export function searchCondition(tree: PlainTree, bind: Bind): string {
  switch (tree.kind) {
    case "text":
      return textCondition(tree.field, bind(likePattern(tree.text)));
    case "tag":
      return `t.tags @> ARRAY[${bind(tree.tag)}::text]`;
    case "status":
      return `t.display_status = ${bind(tree.status)}`;
    case "id":
      return idCondition(tree.prefix, bind);
    case "filter":
      return filterCondition(tree, "t.run_id", bind);
    case "projects":
      return tree.ids.length === 0 ? "false" : `t.project_id = ANY (${bind(tree.ids)}::uuid[])`;
    case "holds":
      return `t.${tree.column} LIKE ${bind(likePattern(tree.text))}`;
    case "irregular":
      // The organization is repeated, because without statistics PostgreSQL assumes that half of all rows are irregular.
      return "t.irregular AND t.org_id = $1";
    case "not":
      return `NOT (${searchCondition(tree.node, bind)})`;
    case "and":
      return listCondition(withoutImplied(tree.nodes), "AND", "true", bind);
    case "or":
      return listCondition(tree.nodes, "OR", "false", bind);
    default:
      throw new Error(`no condition for ${String(tree satisfies never)}`);
  }
}

function listCondition(nodes: readonly PlainTree[], operator: string, empty: string, bind: Bind): string {
  return nodes.map((node) => `(${searchCondition(node, bind)})`).join(` ${operator} `) || empty;
}

/**
 * Returns the nodes of an AND without the texts that another text of the same field contains, since that
 * one implies them. An incomplete query may be a list of 256 texts, and each costs time on every run.
 */
function withoutImplied(nodes: readonly PlainTree[]): PlainTree[] {
  return nodes.filter((node, index) => {
    if (node.kind !== "text") return true;
    return !nodes.some((other, otherIndex) => {
      if (otherIndex === index || other.kind !== "text" || other.field !== node.field) return false;
      return other.text === node.text ? otherIndex < index : other.text.includes(node.text);
    });
  });
}

/** The columns that a search term without a field searches, each separately. */
export const TEXTS_OF_ALL = ["summary", "config", "metadata"] as const satisfies readonly IndexedText[];

function textCondition(field: Exclude<TextField, "project">, pattern: string): string {
  switch (field) {
    case "all":
      return TEXTS_OF_ALL.map((column) => `t.${column} LIKE ${pattern}`).join(" OR ");
    case "name":
      // The summary, which has an index, contains every name whole.
      return `t.summary LIKE ${pattern} AND t.name LIKE ${pattern}`;
    default:
      return `t.${field} LIKE ${pattern}`;
  }
}

/** Returns a LIKE pattern for texts that contain this one. */
function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

const UUID_SHAPE = "00000000-0000-0000-0000-000000000000";

/** Ids with a prefix are a range, which the primary key can look up. */
function idCondition(prefix: string, bind: Bind): string {
  const low = prefix + UUID_SHAPE.slice(prefix.length);
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(low)) return "false";
  const high = prefix + UUID_SHAPE.replaceAll("0", "f").slice(prefix.length);
  return `t.run_id BETWEEN ${bind(low)}::uuid AND ${bind(high)}::uuid`;
}

const OPERATORS: Readonly<Record<Comparison, string>> = {
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  "=": "=",
  "!=": "<>",
};

/** Returns a condition that is true exactly if the run `run`, SQL of an id, has a value that compares so; `$1` is the organization. */
function filterCondition({ column, comparison, operand }: Filter, run: string, bind: Bind): string {
  // Values of metrics are doubles: the nearest one is meant.
  const known = column.kind === "metrics" && typeof operand === "object" ? Number(operand.digits) : operand;
  return `EXISTS (SELECT FROM (${comparableValue(column, run, bind)}) v WHERE ${comparedCondition(comparison, known, bind)})`;
}

/** Returns the condition on `v.num` and `v.txt`. Numbers are compared with numbers only, texts with texts, by code points. */
function comparedCondition(comparison: Comparison, operand: Operand, bind: Bind): string {
  const operator = OPERATORS[comparison];
  if (typeof operand === "string") return `v.num = 'NaN' AND v.txt ${operator} ${bind(operand)} COLLATE "C"`;
  if (typeof operand === "number") return `v.num <> 'NaN' AND v.num ${operator} ${bind(operand)}::float8`;
  const long = `(SELECT c.num, c.txt COLLATE "C" FROM runs.comparable(to_json(${bind(operand.digits)}::numeric)) c)`;
  return `v.num <> 'NaN' AND (v.num, v.txt) ${operator} ${long}`;
}
