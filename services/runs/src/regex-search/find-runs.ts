import type { Db, Tx } from "@tidemark/pg";
import { DISPLAY_STATUSES } from "@tidemark/run-state";
import { checkRegex, compileRegex, type Regex } from "@tidemark/regex";
import { badRequest } from "@tidemark/errors";
import { parseSearch } from "../search/parse-search.rules.ts";
import { resolveTerms, type ResolvedTree, type SearchTree } from "../search/tree.rules.ts";
import { listProjectNames } from "../projects/projects.sql.ts";
import { columnConditions } from "../list/run-filter.sql.ts";
import { searchCondition, TEXTS_OF_ALL } from "../search/search-condition.sql.ts";
import { parameters } from "../read/runs.sql.ts";
import { SEARCH_MS_MAX } from "./bounds.rules.ts";
import { filterCandidates, type RegexColumn } from "./candidates.sql.ts";
import { isFound, planCheck, possibleRuns, type RegexLeaf } from "./regex-plan.ts";

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
