import { isStopPending, type RunStatus, type StopState } from "@tidemark/run-state";

/** A stop request that a running run has not carried out. Instants are RFC 3339 texts. */
export type PendingStop = {
  readonly requestId: string;
  readonly requestedAt: string;
  readonly acknowledgedAt: string | null;
};

/** Whose a run is. One object stands for all runs of a project, of which there may be very many. */
export type RunOwner = { readonly orgId: string; readonly projectId: string };

/** As much of a run as its training process is told of when it polls. */
export type KnownRun = {
  readonly owner: RunOwner;
  readonly status: RunStatus;
  /** Undefined when nobody asks it to stop, and once it has ended. */
  readonly pending: PendingStop | undefined;
};

/** The same as the database tells it. */
export type RunControlRow = {
  readonly id: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly status: RunStatus;
  readonly stop_state: StopState;
  readonly stop_request_id: string | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
};

/** Makes a known run of a row. */
export function knownRun(row: RunControlRow, owner: RunOwner): KnownRun {
  const { status, stop_request_id: requestId, stop_requested_at: requestedAt } = row;
  const asked = isStopPending(status, row.stop_state) && requestId !== null && requestedAt !== null;
  const pending = asked ? { requestId, requestedAt, acknowledgedAt: row.stop_acknowledged_at } : undefined;
  return { owner, status, pending };
}
