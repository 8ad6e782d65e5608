import { plannedSql, type Db, type Tx } from "@tidemark/pg";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { checkRegex, compileRegex, type Regex } from "@tidemark/regex";
import { parseSearch } from "../search/parse-search.rules.ts";
import { resolveTerms, type SearchTree, type ResolvedTree } from "../search/tree.rules.ts";
import { listProjectNames } from "../projects/projects.sql.ts";
import { columnConditions } from "../list/run-filter.sql.ts";
import { parameters, searchCondition, TEXTS_OF_ALL } from "../search/search-condition.sql.ts";
import { SEARCH_MS_MAX, TEXT_BYTES_MAX, tooBroad } from "./bounds.ts";
import {
  planCheck,
  possibleRuns,
  type CheckPlan,
  type CheckTree,
  type RegexColumn,
  type RegexLeaf,
} from "./regex-plan.ts";

/** A search with regular expressions among the runs of some columns. */
export type RegexSearch = {
  readonly orgId: string;
  readonly projectId: string | undefined;
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly q: string;
};

const PORTION = 500;

type Candidate = { readonly run_id: string } & Partial<Record<RegexColumn, string | string[]>> & {
    readonly [known: `known${number}`]: boolean;
  };

/**
 * The ids of all runs that a search finds, in no order. Blocks its thread while it tests texts: it
 * runs in a thread of its own.
 * @throws run_search_invalid, run_search_too_broad
 */
export async function findRuns(db: Db, search: RegexSearch): Promise<string[]> {
  const tree = parseSearch(search.q, checkRegex);
  if (tree === undefined) throw new Error("a search for expressions without a query");
  return db.readTenant(search.orgId, (tx) => findInSnapshot(tx, search, tree), { statementMsMax: SEARCH_MS_MAX });
}

async function findInSnapshot(tx: Tx, search: RegexSearch, tree: SearchTree): Promise<string[]> {
  const regexes: Regex[] = [];
  const projects = await listProjectNames(tx, search.orgId, search.projectId);
  const settled = resolveTerms<RegexLeaf>(tree, projects, ({ field, pattern }) => {
    const regex = compileRegex(pattern);
    if (field === "project") {
      return { kind: "projects", ids: projects.filter(({ name }) => regex.test(name)).map(({ id }) => id) };
    }
    if (field === "status") {
      const shown = DISPLAY_STATUSES.filter((status) => regex.test(status));
      return { kind: "or", nodes: shown.map((status) => ({ kind: "status", status })) };
    }
    const index = regexes.push(regex) - 1;
    const leaf = (column: RegexColumn): ResolvedTree<RegexLeaf> => ({ kind: "regex", regex: index, column });
    if (field === "all") return { kind: "or", nodes: TEXTS_OF_ALL.map(leaf) };
    return leaf(field === "tag" ? "tags" : field);
  });

  const { values, bind } = parameters(search.orgId);
  const possible = possibleRuns(
    settled,
    regexes.map(({ literals }) => literals),
  );
  const where = `${columnConditions(search, "t", bind)} AND (${searchCondition(possible, bind)})`;
  const candidates = { where, values: [...values] };
  const plan = planCheck(settled, bind);
  return readCandidates(tx, plan, candidates, values, (row) => decide(plan.check, row, regexes));
}

type Candidates = { readonly where: string; readonly values: readonly unknown[] };

async function readCandidates(
  tx: Tx,
  { known, columns }: CheckPlan,
  candidates: Candidates,
  values: readonly unknown[],
  finds: (row: Candidate) => boolean,
): Promise<string[]> {
  const list = [
    "t.run_id",
    ...columns.map((column) => `t.${column}`),
    ...known.map((condition, i) => `(${condition}) AS known${i}`),
  ].join(", ");
  const declare = `DECLARE candidates NO SCROLL CURSOR FOR SELECT ${list} FROM runs.found_runs t WHERE ${candidates.where}`;
  // Plans of cursors are made to give their first rows soon, and would read all texts in place of an index.
  await tx.rows(plannedSql("runs_want_all_candidates", "SET LOCAL cursor_tuple_fraction = 1"), []);
  await tx.rows(plannedSql("runs_declare_candidates", declare), values);
  const fetch = plannedSql("runs_fetch_candidates", `FETCH ${PORTION} FROM candidates`);
  const found: string[] = [];
  for (let portion = 1; ; portion += 1) {
    const rows = await tx.rows<Candidate>(fetch, []);
    for (const row of rows) if (finds(row)) found.push(row.run_id);
    if (rows.length < PORTION) return found;
    if (portion === 1) await requireNarrow(tx, columns, candidates);
  }
}

/** @throws run_search_too_broad */
async function requireNarrow(tx: Tx, columns: readonly RegexColumn[], { where, values }: Candidates): Promise<void> {
  const bytes = columns.map((column) => `octet_length(t.${column}${column === "tags" ? "::text" : ""})`);
  const text = `SELECT coalesce(sum(${bytes.join(" + ") || "0"}), 0)::bigint AS bytes FROM runs.found_runs t WHERE ${where}`;
  const row = await tx.one<{ bytes: number }>(plannedSql("runs_weigh_candidates", text), values);
  if ((row?.bytes ?? 0) > TEXT_BYTES_MAX) throw tooBroad();
}

function decide(tree: CheckTree, row: Candidate, regexes: readonly Regex[]): boolean {
  switch (tree.kind) {
    case "known":
      return row[`known${tree.index}`] === true;
    case "not":
      return !decide(tree.node, row, regexes);
    case "and":
      return tree.nodes.every((node) => decide(node, row, regexes));
    case "or":
      return tree.nodes.some((node) => decide(node, row, regexes));
    case "regex": {
      const regex = regexes[tree.regex];
      const text = row[tree.column];
      if (regex === undefined || text === undefined) throw new Error("a candidate came without its text");
      return typeof text === "string" ? regex.test(text) : text.some((part) => regex.test(part));
    }
    default:
      throw new Error(`no check for ${String(tree satisfies never)}`);
  }
}
