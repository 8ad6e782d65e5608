import type { Bind } from "../read/runs.sql.ts";
import { comparableValue } from "./column-values.sql.ts";
import type { Comparison, Filter, Operand } from "./column.rules.ts";

const OPERATORS: Readonly<Record<Comparison, string>> = {
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
  "=": "=",
  "!=": "<>",
};

/** Returns a condition that is true exactly if the run `run`, SQL of an id, has a value that compares so; `$1` is the organization. */
export function filterCondition({ column, comparison, operand }: Filter, run: string, bind: Bind): string {
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
