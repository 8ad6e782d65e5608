import { badRequest } from "@tidemark/errors";
import { plannedSql, type Tx } from "@tidemark/pg";
import {
  afterSql,
  cursorBehind,
  keyColumns,
  type Keyed,
  keysOf,
  operandCondition,
  orderSql,
  type SortKey,
} from "@tidemark/pg/query";

import { isStorable } from "@tidemark/values/run-search";
import { type Bind, parameters } from "../read/runs.sql.ts";
import type { FindOrder, FindQuery } from "./find.rules.ts";
import { comparableOf, firstOf, foundProjects, foundRuns, type FoundRows } from "./operands.sql.ts";

/** A row that a search found. */
export type Found = Keyed & { readonly id: string; readonly hidden: boolean };

/** The rows of a page, and the cursor behind each. */
export type Page = { readonly found: readonly Found[]; readonly cursorOf: (row: Keyed) => string };

/** Returns the conditions of a search, each in parentheses. A text that cannot be stored equals none. @throws bad_request */
function conditionsSql(rows: FoundRows, { all }: Pick<FindQuery, "all">, bind: Bind): string[] {
  return all.map(({ any }) => {
    const conditions = any.map((condition) => {
      const { operator, number, orMissing } = condition;
      const texts = condition.texts.map((text) => (isStorable(text) ? text : text.toWellFormed()));
      return operandCondition(firstOf(rows, condition.firstOf, bind), { operator, texts, number, orMissing }, bind);
    });
    return `(${conditions.join(" OR ") || "false"})`;
  });
}

/** Returns the values to sort by, each computed once a row as a column of `o`, and the keys of the order. @throws bad_request */
function sortSql(rows: FoundRows, orders: readonly FindOrder[], bind: Bind): { joins: string; keys: SortKey[] } {
  const joins: string[] = [];
  const keys = orders.flatMap(({ firstOf: operands, descending }, i): SortKey[] => {
    const [first] = operands;
    const name = `o${i}`;
    if (operands.length === 1 && first!.of === "config" && !first!.number) {
      joins.push(`LEFT JOIN LATERAL (${comparableOf(rows, first!, bind)} OFFSET 0) ${name} ON true`);
      return [
        { sql: `CASE WHEN ${name}.num IS NULL THEN 1 ELSE 0 END::float8`, type: "number", isDescending: false },
        // Texts, which have NaN there, come after all numbers.
        { sql: `CASE WHEN ${name}.num = 'NaN' THEN 1 ELSE 0 END::float8`, type: "number", isDescending: descending },
        { sql: `coalesce(nullif(${name}.num, 'NaN'), 0)`, type: "number", isDescending: descending },
        { sql: `coalesce(${name}.txt, '')`, type: "text", isDescending: descending },
      ];
    }
    const operand = firstOf(rows, operands, bind);
    joins.push(`CROSS JOIN LATERAL (SELECT ${operand.sql} AS value OFFSET 0) ${name}`);
    return keysOf({ ...operand, sql: `${name}.value` }, descending);
  });
  const last: SortKey[] = [
    { sql: "t.created_at", type: "time", isDescending: true },
    { sql: "t.id", type: "id", isDescending: true },
  ];
  return { joins: joins.join(" "), keys: [...keys, ...last] };
}

/** Names an order, so that a cursor of another one is refused. */
function formOf(what: string, orders: readonly FindOrder[]): string {
  return `${what} ${JSON.stringify(orders.map(({ firstOf: of, descending }) => [of.map(({ path }) => path), descending]))}`;
}

const VIEWS: readonly string[] = ["active", "deleted", "all"];

/** Returns the condition that a row is in a view and can still be restored. @throws bad_request */
function viewSql(view: string, hidden: string, purgeAfter: string): string {
  if (!VIEWS.includes(view)) throw badRequest("view must be active, deleted or all", "view");
  const inView = view === "all" ? "true" : view === "deleted" ? hidden : `NOT ${hidden}`;
  return view === "active" ? inView : `${inView} AND (${purgeAfter} IS NULL OR ${purgeAfter} > clock_timestamp())`;
}

const listKeys = (keys: readonly SortKey[]): string =>
  keys.map(({ isDescending }, i) => `f.k${i}${isDescending ? " DESC" : ""}`).join(", ");

/** The projects of a search. */
export type Projects = {
  readonly numbers: readonly bigint[];
  readonly names: readonly string[];
  /** The only one that the caller sees. */
  readonly own: string | undefined;
};

/** Returns the next runs of projects that a search finds. The transaction sees deleted rows unless the view is active. @throws bad_request */
export async function findRunIds(tx: Tx, orgId: string, projects: Projects, wanted: FindQuery): Promise<Page> {
  const { values, bind } = parameters(orgId);
  const { orders, cursor, limit, view } = wanted;
  const ofProjects = `p.org_id = $1 AND (p.number = ANY (${bind(projects.numbers)}::bigint[]) OR p.name = ANY (${bind(projects.names)}::text[]))
    AND (p.purge_after IS NULL OR p.purge_after > clock_timestamp())${projects.own === undefined ? "" : ` AND p.id = ${bind(projects.own)}::uuid`}`;
  const tests = conditionsSql(foundRuns, wanted, bind);
  const { joins, keys } = sortSql(foundRuns, orders, bind);
  const form = formOf("runs", orders);
  const after = afterSql(form, keys, cursor, bind);
  const where = [
    "t.org_id = $1 AND t.project_id = asked.id",
    viewSql(view, "t.hidden", "t.purge_after"),
    after,
    ...tests,
  ];
  const most = `${bind(limit)}::bigint`;
  const statement = plannedSql(
    "runs_find_runs",
    `SELECT f.* FROM (SELECT p.id FROM runs.projects p WHERE ${ofProjects} OFFSET 0) asked
     CROSS JOIN LATERAL (
       SELECT t.id, t.hidden, ${keyColumns(keys)} FROM runs.runs t ${joins}
       WHERE ${where.join(" AND ")} ORDER BY ${orderSql(keys)} LIMIT ${most}) f
     ORDER BY ${listKeys(keys)} LIMIT ${most}`,
  );
  const found = await tx.rows<Found>(statement, values);
  return { found, cursorOf: (row) => cursorBehind(form, keys, row) };
}

/** Returns the next projects that a search finds, of all or the only one that the caller sees. As for runs. @throws bad_request */
export async function findProjectIds(tx: Tx, orgId: string, own: string | undefined, wanted: FindQuery): Promise<Page> {
  const { values, bind } = parameters(orgId);
  const { orders, cursor, limit, view } = wanted;
  const tests = conditionsSql(foundProjects, wanted, bind);
  const { joins, keys } = sortSql(foundProjects, orders, bind);
  const form = formOf("projects", orders);
  const where = [
    "t.org_id = $1",
    ...(own === undefined ? [] : [`t.id = ${bind(own)}::uuid`]),
    viewSql(view, "(t.deleted_at IS NOT NULL)", "t.purge_after"),
    afterSql(form, keys, cursor, bind),
    ...tests,
  ];
  const statement = plannedSql(
    "runs_find_projects",
    `SELECT t.id, t.deleted_at IS NOT NULL AS hidden, ${keyColumns(keys)} FROM runs.projects t ${joins}
     WHERE ${where.join(" AND ")} ORDER BY ${orderSql(keys)} LIMIT ${bind(limit)}::bigint`,
  );
  const found = await tx.rows<Found>(statement, values);
  return { found, cursorOf: (row) => cursorBehind(form, keys, row) };
}
