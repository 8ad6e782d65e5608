import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { BATCH_BYTES, BULK_UPDATE, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { canSee, isUuid, requireLimit, type Caller } from "@tidemark/requests";
import type { RunStatus } from "@tidemark/run-state";
import { nextTurn } from "@tidemark/work";
import { badRequest } from "@tidemark/errors";
import type { BulkUpdateRunsRequest } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import { withNotes } from "../documents/run-notes.rules.ts";
import { listFittingRuns } from "../list/page-weight.sql.ts";
import { listRefsById } from "../read/runs.sql.ts";
import { changeStatus } from "../update/update-run.ts";
import { lockRunStates, setTags, listMetadata, setMetadata } from "../update/run-changes.sql.ts";
import type { RunsDeps } from "../deps.ts";
import { chooseRuns } from "../list/choose-runs.sql.ts";
import { readOrder } from "../list/run-list.rules.ts";
import { withRuns } from "../list/with-runs.ts";

/** What a bulk update sets; undefined leaves it. */
export type RunSettings = {
  readonly status: RunStatus | undefined;
  readonly tags: readonly string[] | undefined;
  /** The empty text removes the notes. */
  readonly notes: string | undefined;
};

/** Metadata of this many bytes is read and written before other requests go first. */
const TURN_BYTES = 256 * 1024;

/**
 * Changes all of these runs, under their locks, and returns the project of each; returns undefined and changes nothing when the caller cannot see one
 * of them. `now` is RFC 3339.
 */
export async function updateTogether(
  tx: Tx,
  caller: Caller,
  ids: readonly string[],
  { status, tags, notes, now }: RunSettings & { readonly now: string },
): Promise<ReadonlyMap<string, string> | undefined> {
  const { orgId } = caller;
  const locked = await lockRunStates(tx, orgId, ids);
  const areVisible = locked.every(({ projectId }) => canSee(caller, { orgId, projectId }));
  if (locked.length < ids.length || !areVisible) return undefined;
  if (status !== undefined) await changeStatus(tx, orgId, locked, { status, now });
  if (tags !== undefined) await setTags(tx, orgId, ids, tags);
  if (notes !== undefined) await setNotes(tx, orgId, ids, notes);
  return new Map(locked.map(({ id, projectId }) => [id, projectId]));
}

async function setNotes(tx: Tx, orgId: string, ids: readonly string[], notes: string): Promise<void> {
  for (let left = ids; left.length > 0;) {
    const fitting = await listFittingRuns(tx, orgId, left, undefined, BATCH_BYTES);
    const rows = await listMetadata(tx, orgId, fitting);
    const changed = [];
    let bytes = 0;
    for (const { id, metadata } of rows) {
      const document = await readDocumentInTurns(Buffer.from(metadata), "metadata");
      changed.push({ id, metadata: await writeCanonicalInTurns(withNotes(document, notes)) });
      bytes += metadata.length;
      if (bytes < TURN_BYTES) continue;
      bytes = 0;
      await nextTurn();
    }
    await setMetadata(tx, orgId, changed);
    left = left.slice(fitting.length);
  }
}

/** Which runs a request is about: those that it names, or a part of a list. */
export type RunSelection = Pick<BulkUpdateRunsRequest, "runIds" | "filter" | "order" | "limit" | "offset">;

/**
 * Returns the distinct runs that a request names, whether or not the caller may see them, or those that its filter finds.
 * @throws bad_request, also for a filter that finds too many; run_search_invalid, run_search_too_broad
 */
export async function selectedRuns(
  deps: RunsDeps,
  call: Call,
  { runIds, filter, order, limit, offset }: RunSelection,
): Promise<readonly string[]> {
  const { runsMax } = BULK_UPDATE;
  if (runIds.length > 0) {
    if (runIds.length > runsMax || !runIds.every(isUuid)) {
      throw badRequest(`run_ids must have 1 to ${runsMax} UUIDs`, "run_ids");
    }
    return [...new Set(runIds)];
  }
  const by = readOrder({
    sortBy: order?.sortBy ?? "",
    metricKey: order?.metricKey ?? "",
    sortDir: order?.sortDir ?? "",
  });
  const most = limit === undefined ? runsMax + 1 : requireLimit(limit, RUNS_PAGE_ROWS.max);
  const found = await withRuns(deps, call, filter, async (tx, orgId, passing) => {
    const start = { offset: Number(offset) };
    return (await chooseRuns(tx, orgId, { filter: passing, order: by, start, limit: most })).page;
  });
  if (found.length > runsMax) throw badRequest(`filter must let at most ${runsMax} runs through`, "filter");
  return found.map(({ id }) => id);
}

/** Returns the runs among `ids` that the caller may see. */
export async function visibleRuns(tx: Tx, caller: Caller, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const refs = await listRefsById(tx, caller.orgId, ids, caller.projectId);
  return new Set(refs.map(({ id }) => id));
}
