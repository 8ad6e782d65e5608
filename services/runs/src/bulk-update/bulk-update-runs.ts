import { badRequest } from "@tidemark/errors";
import { isAnswered, withIdempotency, type IdempotentRequest } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { BulkUpdateRunsRequest } from "@tidemark/proto/runs/v1/runs";
import { callerOf, refuseUnpaid, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { textBytes } from "../documents/run-notes.rules.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { requireStatus } from "../update/update-run.ts";
import { hundredsOf, readIds, writeIds } from "./bulk-updates.rules.ts";
import { selectedRuns, updateTogether, visibleRuns, type RunSettings } from "./update-hundred.ts";

const nothing = () => Promise.resolve();

/** The result of a batch of a hundred runs. */
type Result = { readonly runIds: string[]; readonly ok: boolean; readonly error: string; readonly replayed?: boolean };

/** No hundred is started in the last milliseconds of a request, so that its answer arrives. */
const RESERVE_MS = 1500;

/**
 * Changes status, tags and notes of many runs, a hundred in each transaction. With a key, the first call stores the runs it found, and each hundred
 * stores its result; a repeated call continues with the hundreds that were not reached, and changes none twice.
 * @throws bad_request, run_search_invalid, run_search_too_broad, payment_required, plan_limit_exceeded, idempotency_key_reused,
 *   idempotency_in_progress
 */
export function bulkUpdateRuns(deps: RunsDeps): RunsHandlers["bulkUpdateRuns"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const settings = readSettings(request);
    refuseUnpaid(caller);
    if (request.dryRun) return answerOf(await tryHundreds(deps, caller, await selectedRuns(deps, call, request)));
    const keyed = keyedOf(request, caller);
    const ids = await keptSelection(deps, call, request, keyed);
    const results: Result[] = [];
    for (const [index, runIds] of hundredsOf(ids).entries()) {
      const isReached = Date.now() < call.deadlineMs - RESERVE_MS;
      results.push(
        isReached
          ? await updateHundred(deps, caller, settings, { runIds, keyed: partOf(keyed, index) })
          : { runIds, ok: false, error: "not_reached" },
      );
    }
    const answer = answerOf(results);
    return { ...answer, updated: answer.matched - answer.failed };
  };
}

function readSettings({ status, tags, notes }: BulkUpdateRunsRequest): RunSettings {
  if ([status, tags, notes].every((setting) => setting === undefined)) {
    throw badRequest("set needs one of status, tags and notes", "set");
  }
  return { status: requireStatus(status), tags: tags?.tags, notes };
}

/** A key used within another project belongs to another request, which may see other runs. */
function keyedOf(request: BulkUpdateRunsRequest, caller: Caller): IdempotentRequest | undefined {
  const { $typeName: _type, $unknown: _unknown, idempotencyKey: key, ...body } = request;
  if (key === "") return undefined;
  const json = JSON.stringify(body, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  return { key, route: "POST /api/runs/bulk-update", parts: [caller.projectId ?? "", json] };
}

/** The key of a hundred. No client can send it, because keys contain no blanks. */
function partOf(keyed: IdempotentRequest | undefined, index: number): IdempotentRequest | undefined {
  return keyed === undefined ? undefined : { ...keyed, key: `${keyed.key} ${index}` };
}

/** Returns the runs that the request selects; with a key, the runs that its first call selected, because a change may take runs out of a filter. */
async function keptSelection(
  deps: RunsDeps,
  call: Call,
  request: BulkUpdateRunsRequest,
  keyed: IdempotentRequest | undefined,
): Promise<readonly string[]> {
  if (keyed === undefined) return selectedRuns(deps, call, request);
  const { orgId } = callerOf(call);
  // Chosen before the key is taken: the holder of the key must not wait for connections held by requests that wait for the key.
  const isKept = await isAnswered(deps.db, orgId, keyed.key);
  const found = isKept ? [] : await selectedRuns(deps, call, request);
  const { reply } = await withIdempotency(deps.db, orgId, keyed, nothing, () => Promise.resolve(writeIds(found)));
  return readIds(reply);
}

/** Changes a hundred, or finds its stored result. A run that the caller can no longer see fails the hundred in both cases. */
async function updateHundred(
  { db, storageGate, staleness, noteChange }: RunsDeps,
  caller: Caller,
  settings: RunSettings,
  { runIds, keyed }: { readonly runIds: string[]; readonly keyed: IdempotentRequest | undefined },
): Promise<Result> {
  const { orgId } = caller;
  let isVisible = true;
  let changed: Awaited<ReturnType<typeof updateTogether>>;
  const { reply, replayed } = await withIdempotency(
    db,
    orgId,
    keyed,
    async (tx) => {
      if (keyed !== undefined) isVisible = (await visibleRuns(tx, caller, runIds)).size === runIds.length;
    },
    async (tx) => {
      const bytes = textBytes({ metadata: settings.notes, tags: settings.tags }) * runIds.length;
      if (bytes > 0) await storageGate.admit(caller, bytes);
      changed = await updateTogether(tx, caller, runIds, { ...settings, now: staleness.ago(0) });
      return Uint8Array.of(Number(changed !== undefined));
    },
  );
  for (const [runId, projectId] of changed ?? []) noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
  return resultOf(runIds, isVisible && reply[0] === 1, replayed);
}

/** Returns which hundreds would change. */
async function tryHundreds({ db }: RunsDeps, caller: Caller, ids: readonly string[]): Promise<Result[]> {
  const visible = await db.readTenant(caller.orgId, (tx) => visibleRuns(tx, caller, ids));
  return hundredsOf(ids).map((runIds) =>
    resultOf(
      runIds,
      runIds.every((id) => visible.has(id)),
    ),
  );
}

function resultOf(runIds: string[], ok: boolean, replayed = false): Result {
  return { runIds, ok, error: ok ? "" : "not_found_or_unauthorized", replayed };
}

function answerOf(results: readonly Result[]) {
  const runsOf = (some: readonly Result[]): number => some.reduce((sum, { runIds }) => sum + runIds.length, 0);
  return {
    matched: runsOf(results),
    updated: 0,
    failed: runsOf(results.filter(({ ok }) => !ok)),
    results: results.map(({ runIds, ok, error }) => ({ runIds, ok, error })),
    replayed: results.length > 0 && results.every(({ replayed }) => replayed === true),
  };
}
