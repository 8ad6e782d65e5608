import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, notFound } from "@tidemark/errors";
import { withIdempotency, type Tx, putOutbox } from "@tidemark/pg";
import { RunStopSchema, StopRunsResponseSchema, StopEventSchema } from "@tidemark/proto/control/v1/control";
import { callerOf, canSee, isUuid, throwFault, type Caller } from "@tidemark/requests";
import {
  applyRunEvent,
  type StopActor,
  displayStatus,
  isStopRequested,
  rowOfState,
  type RunState,
} from "@tidemark/run-state";
import { STOP_RUNS_MAX } from "@tidemark/limits";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { findRuns, lockRuns, setRunStates } from "./run-states.sql.ts";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunControlSchema } from "@tidemark/proto/runs/v1/runs";

/**
 * Asks a run to stop (API specification, POST /api/runs/{run_id}/stop), in every billing state: a customer who cannot pay
 * must be able to stop costs.
 * @throws not_found, then bad_request, then idempotency_key_reused, idempotency_in_progress
 */
export function stopRun(deps: ControlDeps): ControlHandlers["stopRun"] {
  return async (request, call) => {
    const caller = stopCaller(call);
    const { runId, idempotencyKey: key, reason = null } = request;
    if (!isUuid(runId)) throw notFound("run");
    const route = "POST /api/runs/{run_id}/stop";
    const keyed = key === "" ? undefined : { key, route, parts: [runId, JSON.stringify({ reason })] };
    const { reply, replayed } = await commitRunChange(deps, caller.orgId, (changed) =>
      withIdempotency(
        deps.db,
        caller.orgId,
        keyed,
        async (tx) => {
          await requireRun(tx, caller, runId);
          throwFault(request.bodyFault);
        },
        async (tx) => {
          const wish = { runIds: [runId], reason, actor: caller.actor, newId: deps.newId, changed };
          const [stop] = await askToStop(tx, caller.orgId, wish);
          if (stop === undefined) throw notFound("run");
          return toBinary(RunStopSchema, create(RunStopSchema, stop));
        },
      ),
    );
    return { stop: fromBinary(RunStopSchema, reply), replayed };
  };
}

/**
 * Asks several runs to stop in one transaction (API specification, POST /api/runs/stop). A replayed answer shows only
 * the runs that the caller may see now.
 * @throws bad_request, idempotency_key_reused, idempotency_in_progress
 */
export function stopRuns(deps: ControlDeps): ControlHandlers["stopRuns"] {
  return async (request, call) => {
    const caller = stopCaller(call);
    const { runIds, idempotencyKey: key, reason = null } = request;
    if (runIds.length === 0 || runIds.length > STOP_RUNS_MAX || !runIds.every(isUuid)) {
      throw badRequest(`run_ids must have 1 to ${STOP_RUNS_MAX} UUIDs`, "run_ids");
    }
    const route = "POST /api/runs/stop";
    const keyed = key === "" ? undefined : { key, route, parts: [JSON.stringify({ runIds, reason })] };
    let visible: ReadonlySet<string> = new Set();
    const { reply, replayed } = await commitRunChange(deps, caller.orgId, (changed) =>
      withIdempotency(
        deps.db,
        caller.orgId,
        keyed,
        async (tx) => {
          visible = await visibleRuns(tx, caller, runIds);
        },
        async (tx) => {
          const wish = { runIds: [...visible], reason, actor: caller.actor, newId: deps.newId, changed };
          const stopped = new Map((await askToStop(tx, caller.orgId, wish)).map((stop) => [stop.runId, stop]));
          const stops = [...new Set(runIds)].map((runId) => stopped.get(runId) ?? { runId });
          return toBinary(StopRunsResponseSchema, create(StopRunsResponseSchema, { stops }));
        },
      ),
    );
    const { stops } = fromBinary(StopRunsResponseSchema, reply);
    return { stops: stops.map((stop) => (visible.has(stop.runId) ? stop : { runId: stop.runId })), replayed };
  };
}

type RunStopInit = MessageInitShape<typeof RunStopSchema> & { readonly runId: string };

/** Asks runs to stop, in the given transaction, with the message about it. Leaves out runs that do not exist. */
async function askToStop(
  tx: Tx,
  orgId: string,
  wish: {
    readonly runIds: readonly string[];
    readonly reason: string | null;
    readonly actor: StopActor;
    readonly newId: () => string;
    /** Receives the runs that were not asked before. */
    readonly changed: ChangedRun[];
  },
): Promise<RunStopInit[]> {
  const { reason, actor, newId } = wish;
  const locked = await lockRuns(tx, orgId, wish.runIds);
  const stops = locked.map(({ id, projectId, state, at }) => ({
    id,
    projectId,
    ...applyRunEvent(state, { kind: "stop", requestId: newId(), reason, actor }, at),
  }));
  const changed = stops.filter((stop) => stop.changed);
  await writeStops(tx, orgId, stopRequestedSubject, changed);
  wish.changed.push(...changed.map(({ id, projectId }) => ({ id, projectId, statusChanged: false })));
  return stops.map(({ id, state, outcome }) => ({
    runId: id,
    alreadyRequested: outcome === "already_requested",
    alreadyTerminal: outcome === "already_terminal",
    runControl: encodeRunControl(state),
  }));
}

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
async function visibleRuns(tx: Tx, caller: Caller, runIds: readonly string[]): Promise<Set<string>> {
  const found = await findRuns(tx, caller.orgId, runIds);
  const visible = found.filter((run) => canSee(caller, { orgId: run.org_id, projectId: run.project_id }));
  return new Set(visible.map(({ id }) => id));
}

/** Checks that the caller may see the run. @throws not_found, also for a run that does not exist */
export async function requireRun(tx: Tx, caller: Caller, runId: string): Promise<void> {
  if (!(await visibleRuns(tx, caller, [runId])).has(runId)) throw notFound("run");
}

/** A caller asked runs to stop. */
export const stopRequestedSubject = "tidemark.control.stop_requested.v1";

/** A training process acknowledged a stop, or completed it. */
export const stopAnsweredSubject = "tidemark.control.stop_answered.v1";

/** Writes the new states of runs that the transaction has locked, and the one message about all of them. */
export async function writeStops(
  tx: Tx,
  orgId: string,
  subject: typeof stopRequestedSubject | typeof stopAnsweredSubject,
  changed: readonly { readonly id: string; readonly state: RunState }[],
): Promise<void> {
  if (changed.length === 0) return;
  await setRunStates(tx, orgId, changed);
  const runs = changed.map(({ id, state }) => ({ runId: id, stopRequestId: state.stop.requestId ?? "" }));
  const payload = toBinary(StopEventSchema, create(StopEventSchema, { orgId, runs }));
  await putOutbox(tx, orgId, { service: "control", subject, payload });
}

/** A run that a transaction changed. */
type ChangedRun = { readonly id: string; readonly projectId: string; readonly statusChanged: boolean };

/**
 * Runs a transaction that changes runs, which it adds to `changed`. When it has committed, its messages are sent, and this process has the change in
 * memory before any client learns of it.
 */
export async function commitRunChange<T>(
  deps: ControlDeps,
  orgId: string,
  work: (changed: ChangedRun[]) => Promise<T>,
): Promise<T> {
  const changed: ChangedRun[] = [];
  const result = await work(changed);
  deps.wakeRelay();
  await deps.runs.catchUp();
  for (const { id: runId, projectId, statusChanged } of changed) {
    deps.noteChange({ orgId, projectId, runId, kind: ChangeKind.STOP });
    if (statusChanged) deps.noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
  }
  return result;
}

/** Returns the state of a run's stop request, with its free texts. */
export function encodeRunControl(state: RunState): MessageInitShape<typeof RunControlSchema> {
  const row = rowOfState(state);
  return {
    stopState: row.stop_state,
    displayStatus: displayStatus(state.status, state.stop.state),
    stopRequested: isStopRequested(state.stop.state),
    stopRequestId: row.stop_request_id ?? undefined,
    actor: row.stop_actor ?? undefined,
    stopRequestedAt: row.stop_requested_at ?? undefined,
    stopAcknowledgedAt: row.stop_acknowledged_at ?? undefined,
    stopCompletedAt: row.stop_completed_at ?? undefined,
    updatedAt: row.stop_updated_at ?? undefined,
    details: {
      reason: row.stop_reason ?? undefined,
      completionMessage: row.stop_completion_message ?? undefined,
    },
  };
}
