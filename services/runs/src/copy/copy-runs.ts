import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { RunCopyState } from "@tidemark/proto/runs/v1/runs";
import { callerOf, refuseUnpaid, type Caller } from "@tidemark/requests";
import { hundredsOf } from "../bulk-update/bulk-updates.rules.ts";
import { inHundreds } from "../bulk-update/in-hundreds.ts";
import { recordTransfer } from "../deletion/deletions.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { requireProjectName, resolveProject } from "../projects/resolve-project.ts";
import { listRefsById } from "../read/runs.sql.ts";
import { copiedBytes } from "./copies.rules.ts";
import { readCopySizes } from "./copy-sizes.sql.ts";
import { addCopies, statesOfCopies } from "./run-copies.sql.ts";

/** The answer waits this long for the copies, and ends this long before the request does. */
const PATIENCE_MS = 5000;
const RESERVE_MS = 1000;

/**
 * Copies runs as new ones to a project of the organization, which is made when it is missing, as `inHundreds` does. Each copy appears when everything
 * of the run is there: before this returns or, of many or large runs, later.
 * @throws forbidden for project-scoped keys, bad_request, run_search_invalid, run_search_too_broad, payment_required, plan_limit_exceeded,
 *   idempotency_key_reused, idempotency_in_progress
 */
export function copyRuns(deps: RunsDeps): RunsHandlers["copyRuns"] {
  const { db, plans, newId, runCopier } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (caller.projectId !== undefined) throw new AppError("forbidden", "a project-scoped key cannot copy runs");
    requireProjectName(request.project, "project");
    refuseUnpaid(caller);
    const project = (runs: number) => ({ name: request.project, description: undefined, newId: newId(), runs });
    const answer = await inHundreds(deps, call, request, {
      route: "POST /api/runs/copy",
      makesRuns: true,
      async admit(runIds) {
        const runs = await admitCopies(deps, caller, runIds);
        if (runs > 0) await db.withTenant(orgId, (tx) => resolveProject(tx, caller, plans, project(runs)));
      },
      async change(tx, runIds) {
        const refs = await listRefsById(tx, orgId, runIds, undefined);
        if (refs.length < runIds.length) return undefined;
        // Again, because others may have made runs since, or deleted the project.
        const { id: projectId } = await resolveProject(tx, caller, plans, project(runIds.length));
        const homes = refs.map((ref) => ref.projectId);
        await recordTransfer(tx, call, { action: "run.copied", toProject: projectId, homes });
        return requestCopies(tx, orgId, { runIds, ids: runIds.map(() => newId()), projectId });
      },
      onChanged: () => {},
    });
    if (!request.dryRun && answer.updated > 0) {
      await runCopier.settle(orgId, Math.min(PATIENCE_MS, call.deadlineMs - Date.now() - RESERVE_MS));
    }
    const states = await stateReader(
      deps,
      orgId,
      answer.results.flatMap(({ madeIds }) => madeIds),
    );
    const results = answer.results.map(({ runIds, ok, error, madeIds }) => ({
      runIds,
      ok,
      error,
      copies: madeIds.map((copyId, i) => ({ runId: runIds[i]!, copyId, state: states(copyId) })),
    }));
    const copying = results
      .flatMap(({ copies }) => copies)
      .filter(({ state }) => state === RunCopyState.COPYING).length;
    return { ...answer, copying, results };
  };
}

/** Admits all that copies of runs count for, or nothing. Returns how many of the runs there are. @throws plan_limit_exceeded */
async function admitCopies(
  { db, storageGate, pointGate, eventGate }: RunsDeps,
  caller: Caller,
  runIds: readonly string[],
): Promise<number> {
  let [runs, points, events, bytes] = [0, 0, 0, 0];
  for (const hundred of hundredsOf(runIds)) {
    const sizes = await db.readTenant(caller.orgId, (tx) => readCopySizes(tx, caller.orgId, hundred));
    runs += sizes.runs;
    points += sizes.points;
    events += sizes.events;
    bytes += copiedBytes(sizes);
  }
  if (points > 0) await pointGate.admit(caller, points);
  if (events > 0) await eventGate.admit(caller, events);
  if (bytes > 0) await storageGate.admit(caller, bytes);
  return runs;
}

/** Requests copies under new ids, and returns the id of each. */
async function requestCopies(
  tx: Tx,
  orgId: string,
  {
    runIds,
    ids,
    projectId,
  }: { readonly runIds: readonly string[]; readonly ids: readonly string[]; readonly projectId: string },
): Promise<ReadonlyMap<string, string>> {
  if ((await addCopies(tx, orgId, ids, runIds, projectId)) < ids.length) throw new Error("a new id was taken");
  return new Map(runIds.map((id, i) => [id, ids[i]!]));
}

async function stateReader(
  { db }: RunsDeps,
  orgId: string,
  ids: readonly string[],
): Promise<(id: string) => RunCopyState> {
  if (ids.length === 0) return () => RunCopyState.UNSPECIFIED;
  const rows = await db.withTenant(orgId, (tx) => statesOfCopies(tx, orgId, ids));
  const states = new Map(
    rows.map(({ id, isPending, isThere }) => [
      id,
      isPending ? RunCopyState.COPYING : isThere ? RunCopyState.COPIED : RunCopyState.GONE,
    ]),
  );
  return (id) => states.get(id)!;
}
