import { isStorable } from "@tidemark/values/run-search";
import { isAppError } from "@tidemark/errors";
import { sqlState, type ReadOptions, type Tx } from "@tidemark/pg";
import type { RunFilter as FilterMessage } from "@tidemark/proto/runs/v1/runs";
import { callerOf, isUuid, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps } from "../deps.ts";
import { findProjectByName, listProjectNames } from "../projects/projects.sql.ts";
import { SEARCH_MS_MAX, tooBroad } from "../search/words.rules.ts";
import { parseSearch } from "../search/parse-search.rules.ts";
import { needsProjectNames, resolveTerms, type SearchTree } from "../search/tree.rules.ts";
import type { RunFilter } from "./run-filter.sql.ts";

/** Work in one snapshot on the runs that pass a filter. */
type WorkOnRuns<T> = (tx: Tx, orgId: string, filter: RunFilter) => Promise<T>;

const NO_RUNS: RunFilter = {
  projectId: undefined,
  status: undefined,
  displayStatus: undefined,
  search: undefined,
  ids: [],
};

/** The nil UUID, which no project has. */
const NO_PROJECT = "00000000-0000-0000-0000-000000000000";

/**
 * Does `work` on the runs that pass a filter and that the caller may see. A query that may contain regular
 * expressions is answered by a search thread, because even compiling them may take long; `work` then
 * gets the ids that the thread found.
 * @throws run_search_invalid, run_search_too_broad
 */
export async function withRuns<T>(
  { db, searchThreads, staleness }: Pick<RunsDeps, "db" | "searchThreads" | "staleness">,
  call: Call,
  message: FilterMessage | undefined,
  work: WorkOnRuns<T>,
): Promise<T> {
  const caller = callerOf(call);
  const { orgId } = caller;
  const q = message?.q ?? "";
  const columns = { status: storedOf(message?.status), displayStatus: storedOf(message?.displayStatus) };
  const stale = message?.stale === undefined ? undefined : { wanted: message.stale, before: staleness.bound() };
  if (mayContainRegex(q)) {
    const project = await db.readTenant(orgId, (tx) => projectOfFilter(tx, caller, message));
    // An invalid query is refused even if there is no project to search.
    const projectId = project === "none" ? NO_PROJECT : project.id;
    const ids = await searchThreads.find({ orgId, projectId, ...columns, q });
    return db.readTenant(orgId, (tx) => work(tx, orgId, { ...NO_RUNS, ids, stale }), { plans: "walks" });
  }
  const tree = parseSearch(q, () => "invalid");
  // The best plan of a search depends on how many runs have its words.
  const options: ReadOptions =
    tree === undefined ? { plans: "walks" } : { plans: "by values", statementMsMax: SEARCH_MS_MAX };
  try {
    return await db.readTenant(
      orgId,
      async (tx) => {
        const project = await projectOfFilter(tx, caller, message);
        if (project === "none") return work(tx, orgId, NO_RUNS);
        const search = tree === undefined ? undefined : await resolveSearch(tx, caller, tree);
        return work(tx, orgId, { projectId: project.id, ...columns, stale, search });
      },
      options,
    );
  } catch (error) {
    if (tree !== undefined && isAppError(error) && sqlState(error.cause) === "57014") throw tooBroad();
    throw error;
  }
}

/** A word that no row has. */
const NO_STATUS = "none";

/** Returns the text to compare with stored words: a text that cannot be stored, which PostgreSQL would refuse, matches none of them. */
function storedOf(text: string | undefined): string | undefined {
  return text === undefined || isStorable(text) ? text : NO_STATUS;
}

/** Returns whether a query may contain a regular expression. Text that only looks like one gives the same result in a thread. */
function mayContainRegex(q: string): boolean {
  return q.includes("re:/");
}

async function resolveSearch(tx: Tx, { orgId, projectId }: Caller, tree: SearchTree): Promise<RunFilter["search"]> {
  const projects = needsProjectNames(tree) ? await listProjectNames(tx, orgId, projectId) : [];
  return resolveTerms<never>(tree, projects, () => {
    throw new Error("a regular expression outside a search thread");
  });
}

/** Returns the project that both the filter and the caller's key allow: undefined means all, "none" means that no project is left. */
export async function projectOfFilter(
  tx: Tx,
  { orgId, projectId: own }: Caller,
  message: FilterMessage | undefined,
): Promise<{ readonly id: string | undefined } | "none"> {
  const ids = [own];
  if (message?.projectId !== undefined) {
    if (!isUuid(message.projectId)) return "none";
    ids.push(message.projectId);
  }
  if (message?.project !== undefined) {
    if (!isStorable(message.project)) return "none";
    const named = await findProjectByName(tx, orgId, message.project);
    if (named === undefined) return "none";
    ids.push(named.id);
  }
  const [id, ...others] = [...new Set(ids.filter((candidate) => candidate !== undefined))];
  return others.length === 0 ? { id } : "none";
}
