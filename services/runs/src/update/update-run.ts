import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { admitChange, callerOf, pathId, refuseUnpaid, throwFault, type Caller } from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { RUN_STATUSES, type RunStatus } from "@tidemark/run-state";
import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { patchedMetadata } from "../documents/patched-metadata.ts";
import { requireDocumentBytes, withAdditions } from "../documents/merge-documents.rules.ts";
import { textBytes, withNotes } from "../documents/run-notes.rules.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRun } from "../read/encode-rows.ts";
import { requireRun, type RunRow } from "../read/runs.sql.ts";
import { recordHeartbeats } from "../life/signs-of-life.sql.ts";
import { lockRunState, moveRuns, updateRunDocuments, type LockedRun } from "./run-changes.sql.ts";

type Changes = Parameters<RunsHandlers["updateRun"]>[0];

/**
 * Changes name, status, tags, notes and metadata of a run and adds to its config, together (API specification, PATCH /runs/{run_id}).
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
      if (changesTexts(request)) {
        const before = await requireRun(tx, orgId, runId);
        const texts = await changedTexts(before, request);
        await admitTexts(storageGate, caller, before, texts);
        await updateRunDocuments(tx, orgId, runId, texts);
      }
      if (status !== undefined) await changeStatus(tx, orgId, [locked], { status, now: staleness.ago(0) });
      return requireRun(tx, orgId, runId);
    });
    noteChange({ orgId, projectId: row.project_id, runId, kind: ChangeKind.RUN });
    return { run: encodeRun(row, staleness) };
  };
}

function checkChanges(request: Changes): RunStatus | undefined {
  throwFault(request.bodyFault);
  const { name, tags, notes } = request;
  const isEmpty = [name, request.status, tags, notes].every((field) => field === undefined);
  if (isEmpty && !changesTexts(request)) {
    throw badRequest("one of name, status, tags and notes is required");
  }
  return requireStatus(request.status);
}

/** Whether a request changes more than the status. */
function changesTexts({ name, tags, notes, configAdditionsJson, metadataPatchJson }: Changes): boolean {
  if (configAdditionsJson.length > 0 || metadataPatchJson.length > 0) return true;
  return name !== undefined || tags !== undefined || notes !== undefined;
}

type Texts = Parameters<typeof updateRunDocuments>[3];

/** Returns the texts that replace those of a run; undefined: one stays. @throws bad_request */
async function changedTexts(
  before: RunRow,
  { name, tags, notes, configAdditionsJson, metadataPatchJson }: Changes,
): Promise<Texts> {
  let metadata = metadataPatchJson.length === 0 ? undefined : await patchedMetadata(before.metadata, metadataPatchJson);
  if (notes !== undefined) {
    const document = await readDocumentInTurns(Buffer.from(metadata ?? before.metadata), "metadata");
    metadata = await writeCanonicalInTurns(withNotes(document, notes));
  }
  const config =
    configAdditionsJson.length === 0
      ? undefined
      : await writeCanonicalInTurns(
          withAdditions(
            await readDocumentInTurns(Buffer.from(before.config), "config"),
            await readDocumentInTurns(configAdditionsJson, "config"),
          ),
        );
  return {
    name,
    tags: tags?.tags,
    metadata,
    config: config === undefined ? undefined : requireDocumentBytes(config, "config"),
  };
}

/** Admits the texts with which a request replaces those of a run. */
async function admitTexts(
  storageGate: RunsDeps["storageGate"],
  caller: Caller,
  before: RunRow,
  texts: Texts,
): Promise<void> {
  const replaced = Object.fromEntries(
    (["name", "tags", "metadata", "config"] as const).map((part) => [
      part,
      texts[part] === undefined ? undefined : before[part],
    ]),
  );
  await admitChange(storageGate, caller, textBytes(texts), () => Promise.resolve(textBytes(replaced)));
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
