import type { Db, Tx } from "@tidemark/pg";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { checkRegex, compileRegex, type Regex, type Literals } from "@tidemark/regex";
import { badRequest } from "@tidemark/errors";
import { parseSearch } from "../search/parse-search.rules.ts";
import { resolveTerms, type ResolvedTree, type SearchTree } from "../search/tree.rules.ts";
import { listProjectNames } from "../projects/projects.sql.ts";
import { columnConditions } from "../list/run-filter.sql.ts";
import { searchCondition, TEXTS_OF_ALL, type IndexedText, type PlainTree } from "../search/search-condition.sql.ts";
import { parameters, type Bind } from "../read/runs.sql.ts";
import { SEARCH_MS_MAX } from "../search/words.rules.ts";
import { filterCandidates, type RegexColumn, type Candidate } from "./candidates.sql.ts";

/** A search with regular expressions among the runs that have a project and statuses, where these are given. */
export type RegexSearch = {
  readonly orgId: string;
  readonly projectId: string | undefined;
  readonly status: string | undefined;
  readonly displayStatus: string | undefined;
  readonly q: string;
};

/**
 * Returns the ids of all runs that a search finds, in no particular order. It blocks its thread while it tests texts, so it runs in a
 * search thread.
 * @throws run_search_invalid, run_search_too_broad
 */
export async function findRuns(db: Db, search: RegexSearch): Promise<string[]> {
  const tree = parseSearch(search.q, checkRegex);
  if (tree === undefined) throw new Error("a search for expressions without a query");
  const options = { plans: "by values", statementMsMax: SEARCH_MS_MAX } as const;
  return db.readTenant(search.orgId, (tx) => findInSnapshot(tx, search, tree), options);
}

async function findInSnapshot(tx: Tx, search: RegexSearch, tree: SearchTree): Promise<string[]> {
  const regexes: Regex[] = [];
  const projects = await listProjectNames(tx, search.orgId, search.projectId);
  const resolved = resolveTerms<RegexLeaf>(tree, projects, ({ field, pattern }) => {
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
  const literals = regexes.map((regex) => regex.literals);
  const possible = searchCondition(possibleRuns(resolved, literals), bind);
  const filter = { where: `${columnConditions(search, "t", bind)} AND (${possible})`, values: [...values] };
  const { check, columns, known } = planCheck(resolved, bind);
  return filterCandidates(tx, filter, { columns, known, values }, (run) => isFound(check, run, regexes));
}

/** A request for the names that a regular expression matches. */
export type NameSearch = {
  readonly orgId: string;
  readonly pattern: string;
  /** Joined by NUL, which no name has: one text costs less to send to a thread than a list. */
  readonly names: string;
  /** The search ends after this many matches. */
  readonly foundMax: number;
};

/**
 * Returns the places of the first names that the pattern matches, counted from 0. It blocks its thread, so it runs in a search thread.
 * @throws bad_request with field `q`
 */
export function matchNames({ pattern, names, foundMax }: NameSearch): string[] {
  const answer = checkRegex(pattern);
  if (answer === "matches_empty") throw badRequest("the regular expression of q matches the empty text", "q");
  if (answer === "invalid") throw badRequest("the regular expression of q is not valid", "q");
  const regex = compileRegex(pattern);
  const found: string[] = [];
  if (names === "") return found;
  for (const [place, name] of names.split("\0").entries()) {
    if (found.length === foundMax) break;
    if (regex.test(name)) found.push(String(place));
  }
  return found;
}

// A search with regular expressions takes two steps: SQL finds the candidates, the runs that may match, and answers the
// terms that it can; then the expressions decide.

/** One expression, by its index, in one column. */
type RegexLeaf = { readonly kind: "regex"; readonly regex: number; readonly column: RegexColumn };

/** The check of each candidate. `known` are the conditions that SQL has answered. */
type CheckTree =
  | RegexLeaf
  | { readonly kind: "known"; readonly index: number }
  | { readonly kind: "not"; readonly node: CheckTree }
  | { readonly kind: "and" | "or"; readonly nodes: readonly CheckTree[] };

type CheckPlan = {
  /** Conditions whose answers the check needs. */
  readonly known: readonly string[];
  readonly columns: readonly RegexColumn[];
  readonly check: CheckTree;
};

/** Plans the check of the candidates, which are the runs that {@link possibleRuns} finds. */
function planCheck(tree: ResolvedTree<RegexLeaf>, bind: Bind): CheckPlan {
  const known: string[] = [];
  const columns = new Set<RegexColumn>();
  const check = (node: ResolvedTree<RegexLeaf>): CheckTree => {
    if (node.kind === "regex") {
      columns.add(node.column);
      return node;
    }
    if (isPlain(node)) return { kind: "known", index: known.push(searchCondition(node, bind)) - 1 };
    return node.kind === "not"
      ? { kind: "not", node: check(node.node) }
      : { kind: node.kind, nodes: node.nodes.map(check) };
  };
  // Terms without expressions that every run must meet are part of the condition for candidates.
  const open = tree.kind === "and" ? { ...tree, nodes: tree.nodes.filter((node) => !isPlain(node)) } : tree;
  return { check: check(open), known, columns: [...columns] };
}

/** Returns whether a candidate passes its check. */
function isFound(tree: CheckTree, candidate: Candidate, regexes: readonly Regex[]): boolean {
  switch (tree.kind) {
    case "known":
      return candidate[`known${tree.index}`] === true;
    case "not":
      return !isFound(tree.node, candidate, regexes);
    case "and":
      return tree.nodes.every((node) => isFound(node, candidate, regexes));
    case "or":
      return tree.nodes.some((node) => isFound(node, candidate, regexes));
    case "regex": {
      const regex = regexes[tree.regex];
      const text = candidate[tree.column];
      if (regex === undefined || text === undefined) throw new Error("a candidate came without its text");
      return typeof text === "string" ? regex.test(text) : text.some((part) => regex.test(part));
    }
    default:
      throw new Error(`no check for ${String(tree satisfies never)}`);
  }
}

type Mixed = Extract<ResolvedTree<RegexLeaf>, { kind: "not" | "and" | "or" }>;

function isPlain(tree: ResolvedTree<RegexLeaf>): tree is PlainTree & Exclude<ResolvedTree<RegexLeaf>, RegexLeaf> {
  if (tree.kind === "regex") return false;
  if (tree.kind === "not") return isPlain(tree.node);
  return tree.kind === "and" || tree.kind === "or" ? tree.nodes.every(isPlain) : true;
}

/** Returns a search for SQL alone that finds every run that `tree` may find. `literals` are those of each expression. */
function possibleRuns(tree: ResolvedTree<RegexLeaf>, literals: readonly Literals[]): PlainTree {
  if (tree.kind === "regex") return necessary(tree, literals[tree.regex] ?? { kind: "any" });
  if (isPlain(tree)) return tree;
  const mixed: Mixed = tree;
  if (mixed.kind === "not") return { kind: "not", node: certain(mixed.node, literals) };
  return { kind: mixed.kind, nodes: mixed.nodes.map((node) => possibleRuns(node, literals)) };
}

/** Returns a search for SQL alone that finds only runs that `tree` finds. */
function certain(tree: ResolvedTree<RegexLeaf>, literals: readonly Literals[]): PlainTree {
  if (tree.kind === "regex") return { kind: "or", nodes: [] };
  if (isPlain(tree)) return tree;
  const mixed: Mixed = tree;
  if (mixed.kind === "not") return { kind: "not", node: possibleRuns(mixed.node, literals) };
  return { kind: mixed.kind, nodes: mixed.nodes.map((node) => certain(node, literals)) };
}

const EVERYTHING: PlainTree = { kind: "and", nodes: [] };

/** Returns a condition that an expression requires of a run: its literals in the text, unless the run is irregular. */
function necessary({ column }: RegexLeaf, literals: Literals): PlainTree {
  // A regular run has its name and all its tags in its summary.
  const indexed = column === "name" || column === "tags" ? "summary" : column;
  const demand = holds(indexed, literals);
  return demand === EVERYTHING ? EVERYTHING : { kind: "or", nodes: [demand, { kind: "irregular" }] };
}

function holds(column: IndexedText, literals: Literals): PlainTree {
  switch (literals.kind) {
    case "any":
      return EVERYTHING;
    case "literal":
      return { kind: "holds", column, text: literals.text };
    case "and":
    case "or": {
      const nodes = literals.parts.map((part) => holds(column, part));
      if (literals.kind === "or" && nodes.includes(EVERYTHING)) return EVERYTHING;
      const demands = nodes.filter((node) => node !== EVERYTHING);
      return demands.length === 0 ? EVERYTHING : { kind: literals.kind, nodes: demands };
    }
    default:
      throw new Error(`no literals of kind ${String(literals satisfies never)}`);
  }
}
