import { isAppError } from "@tidemark/errors";
import { sqlState, type Tx } from "@tidemark/pg";
import type { RunFilter as FilterMessage } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import { isUuid } from "../domain/run-id.ts";
import { parseSearch } from "../domain/search/parse-search.ts";
import { asksForProjects, settleTerms } from "../domain/search/settle-terms.ts";
import type { SearchTree } from "../domain/search/tree.ts";
import type { RunsDeps } from "../handlers/deps.ts";
import { SEARCH_MS_MAX, tooBroad } from "../regex-search/bounds.rules.ts";
import { findProjectByName } from "../store/find-project-by-name.ts";
import { listProjectNames } from "../store/list-project-names.ts";
import type { PlainFilter } from "../store/run-conditions.ts";
import { callerOf, type Caller } from "./caller.ts";

/** Runs `work` on the runs that pass a filter and that the caller may see, all at one moment. */
export type WorkOnRuns<T> = (tx: Tx, orgId: string, filter: PlainFilter) => Promise<T>;

const NO_RUNS: PlainFilter = {
  projectId: undefined,
  status: undefined,
  displayStatus: undefined,
  search: undefined,
  ids: [],
};

/** The nil UUID, which is no project's id. */
const NO_PROJECT = "00000000-0000-0000-0000-000000000000";

/**
 * Reads the filter of a list. A query that may hold regular expressions is left to a thread whole,
 * since even their compilation may take long; what it finds are the runs to work on.
 * @throws run_search_invalid, run_search_too_broad
 */
export async function withRuns<T>(
  { db, searchThreads }: Pick<RunsDeps, "db" | "searchThreads">,
  call: Call,
  message: FilterMessage | undefined,
  work: WorkOnRuns<T>,
): Promise<T> {
  const caller = callerOf(call);
  const { orgId } = caller;
  const q = message?.q ?? "";
  const columns = { status: message?.status, displayStatus: message?.displayStatus };
  if (mayHoldRegex(q)) {
    const project = await db.readTenant(orgId, (tx) => chooseProject(tx, caller, message));
    // A query that is invalid is so whatever it is asked of.
    const projectId = project === "none" ? NO_PROJECT : project.id;
    const ids = await searchThreads.find({ orgId, projectId, ...columns, q });
    return db.readTenant(orgId, (tx) => work(tx, orgId, { ...NO_RUNS, ids }));
  }
  const tree = parseSearch(q, () => "invalid");
  const options = tree === undefined ? {} : { statementMsMax: SEARCH_MS_MAX };
  try {
    return await db.readTenant(
      orgId,
      async (tx) => {
        const project = await chooseProject(tx, caller, message);
        if (project === "none") return work(tx, orgId, NO_RUNS);
        const search = tree === undefined ? undefined : await settle(tx, caller, tree);
        return work(tx, orgId, { projectId: project.id, ...columns, search });
      },
      options,
    );
  } catch (error) {
    if (tree !== undefined && isAppError(error) && sqlState(error.cause) === "57014") throw tooBroad();
    throw error;
  }
}

/** Text that only looks like an expression goes the long way round, and comes to the same. */
function mayHoldRegex(q: string): boolean {
  return q.includes("re:/");
}

async function settle(tx: Tx, { orgId, projectId }: Caller, tree: SearchTree): Promise<PlainFilter["search"]> {
  const projects = asksForProjects(tree) ? await listProjectNames(tx, orgId, projectId) : [];
  return settleTerms<never>(tree, projects, () => {
    throw new Error("an expression outside a search thread");
  });
}

/** The project that the filter and the caller's key leave; `id` undefined: all of them. */
async function chooseProject(
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
    const named = await findProjectByName(tx, orgId, message.project);
    if (named === undefined) return "none";
    ids.push(named.id);
  }
  const [id, ...others] = [...new Set(ids.filter((candidate) => candidate !== undefined))];
  return others.length === 0 ? { id } : "none";
}
