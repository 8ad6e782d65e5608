import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { admitChange, callerOf, pathId, refuseUnpaid, throwFault, type Caller } from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { RUN_STATUSES, type RunStatus } from "@tidemark/run-state";
import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { notesOf, textBytes, withNotes } from "../documents/run-notes.rules.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRun } from "../read/encode-rows.ts";
import { requireRun } from "../read/runs.sql.ts";
import { recordHeartbeats } from "../life/signs-of-life.sql.ts";
import { lockRunState, moveRuns, updateRunDocuments, type LockedRun } from "./run-changes.sql.ts";

type Changes = Parameters<RunsHandlers["updateRun"]>[0];

/**
 * Changes name, status, tags and notes of a run together (API specification, PATCH /runs/{run_id}).
 * @throws not_found, then bad_request, then payment_required, plan_limit_exceeded
 */
export function updateRun({ db, storageGate, staleness, noteChange }: RunsDeps): RunsHandlers["updateRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId, projectId } = caller;
    const runId = pathId(request.runId, "run");
    const row = await db.withTenant(orgId, async (tx) => {
      const locked = await lockRunState(tx, orgId, runId);
      if (locked === undefined || (projectId !== undefined && locked.projectId !== projectId)) throw notFound("run");
      const status = checkChanges(request);
      refuseUnpaid(caller);
      await admitChanges(tx, { storageGate, caller, runId }, request);
      if (status !== undefined) await changeStatus(tx, orgId, [locked], { status, now: staleness.ago(0) });
      await changeDocuments(tx, orgId, runId, request);
      return requireRun(tx, orgId, runId);
    });
    noteChange({ orgId, projectId: row.project_id, runId, kind: ChangeKind.RUN });
    return { run: encodeRun(row, staleness) };
  };
}

function checkChanges(request: Changes): RunStatus | undefined {
  throwFault(request.bodyFault);
  const { name, tags, notes } = request;
  if ([name, request.status, tags, notes].every((field) => field === undefined)) {
    throw badRequest("one of name, status, tags and notes is required");
  }
  return requireStatus(request.status);
}

/** Admits the texts with which a request replaces the existing ones. */
async function admitChanges(
  tx: Tx,
  { storageGate, caller, runId }: Pick<RunsDeps, "storageGate"> & { readonly caller: Caller; readonly runId: string },
  { name, tags, notes }: Changes,
): Promise<void> {
  const bytes = textBytes({ name, metadata: notes, tags: tags?.tags });
  if (bytes === 0) return;
  await admitChange(storageGate, caller, bytes, async () => {
    const before = await requireRun(tx, caller.orgId, runId);
    return textBytes({
      name: name === undefined ? undefined : before.name,
      metadata:
        notes === undefined ? undefined : notesOf(await readDocumentInTurns(Buffer.from(before.metadata), "metadata")),
      tags: tags === undefined ? undefined : before.tags,
    });
  });
}

async function changeDocuments(tx: Tx, orgId: string, runId: string, { name, tags, notes }: Changes): Promise<void> {
  if (name === undefined && tags === undefined && notes === undefined) return;
  let metadata: string | undefined;
  if (notes !== undefined) {
    const before = await requireRun(tx, orgId, runId);
    const document = await readDocumentInTurns(Buffer.from(before.metadata), "metadata");
    metadata = await writeCanonicalInTurns(withNotes(document, notes));
  }
  await updateRunDocuments(tx, orgId, runId, { name, tags: tags?.tags, metadata });
}

/** Returns a known status, or undefined. @throws bad_request */
export function requireStatus(text: string | undefined): RunStatus | undefined {
  const status = RUN_STATUSES.find((known) => known === text);
  if (text !== undefined && status === undefined) {
    throw badRequest(`status must be one of ${RUN_STATUSES.join(", ")}`, "status");
  }
  return status;
}

/** Sets the status of runs that this transaction has locked. `now` is RFC 3339. */
export async function changeStatus(
  tx: Tx,
  orgId: string,
  locked: readonly LockedRun[],
  { status, now }: { readonly status: RunStatus; readonly now: string },
): Promise<void> {
  await moveRuns(tx, orgId, locked, { kind: "patch", status });
  if (status !== "running") return;
  // They run again from now on, although their creation may be long ago.
  const begun = locked.filter(({ state }) => state.status !== "running");
  const ids = begun.map(({ id }) => id);
  await recordHeartbeats(tx, orgId, ids, now);
}
