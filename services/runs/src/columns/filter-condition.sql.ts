import type { Bind } from "../search/search-condition.sql.ts";
import { comparableValue } from "./column-value.sql.ts";
import type { Comparison, Filter, Operand } from "./filter.rules.ts";

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
  return `EXISTS (SELECT FROM (${comparableValue(column, run, bind)}) v WHERE ${comparedCondition(comparison, operand, bind)})`;
}

/** Returns the condition on `v.num` and `v.txt`. Numbers are compared with numbers only, texts with texts, by code points. */
function comparedCondition(comparison: Comparison, operand: Operand, bind: Bind): string {
  const operator = OPERATORS[comparison];
  return typeof operand === "number"
    ? `v.num <> 'NaN' AND v.num ${operator} ${bind(operand)}::float8`
    : `v.num = 'NaN' AND v.txt ${operator} ${bind(operand)} COLLATE "C"`;
}
