import { notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callerOf, canSee, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { StopActor } from "@tidemark/run-state";
import { findRuns } from "./runs-schema.sql.ts";

/** Returns the caller with the actor recorded in its stop requests. @throws unauthenticated when the call has no organization */
export function stopCaller(call: Call): Caller & { readonly actor: StopActor } {
  const caller = callerOf(call);
  return { ...caller, actor: actorOf(caller.kind) };
}

function actorOf(kind: CallerKind): StopActor {
  if (kind === CallerKind.SESSION) return "user";
  return kind === CallerKind.API_KEY ? "api_key" : "unknown";
}

/** Returns the runs that exist and that the caller may see. A run never changes its project. */
export async function visibleRuns(tx: Tx, caller: Caller, runIds: readonly string[]): Promise<Set<string>> {
  const found = await findRuns(tx, caller.orgId, runIds);
  const visible = found.filter((run) => canSee(caller, { orgId: run.org_id, projectId: run.project_id }));
  return new Set(visible.map(({ id }) => id));
}

/** Checks that the caller may see the run. @throws not_found, also for a run that does not exist */
export async function requireRun(tx: Tx, caller: Caller, runId: string): Promise<void> {
  if (!(await visibleRuns(tx, caller, [runId])).has(runId)) throw notFound("run");
}
