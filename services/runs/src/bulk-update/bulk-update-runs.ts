import { badRequest } from "@tidemark/errors";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { BulkUpdateRunsRequest } from "@tidemark/proto/runs/v1/runs";
import { callerOf, refuseUnpaid } from "@tidemark/requests";
import { textBytes } from "../documents/run-notes.rules.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { requireStatus } from "../update/update-run.ts";
import { inHundreds } from "./in-hundreds.ts";
import { updateTogether, type RunSettings } from "./update-hundred.ts";

/**
 * Changes status, tags and notes of many runs, as `inHundreds` does.
 * @throws bad_request, run_search_invalid, run_search_too_broad, payment_required, plan_limit_exceeded, idempotency_key_reused,
 *   idempotency_in_progress
 */
export function bulkUpdateRuns(deps: RunsDeps): RunsHandlers["bulkUpdateRuns"] {
  const { storageGate, staleness, noteChange } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const settings = readSettings(request);
    refuseUnpaid(caller);
    return inHundreds(deps, call, request, {
      route: "POST /api/runs/bulk-update",
      async change(tx, runIds) {
        const bytes = textBytes({ metadata: settings.notes, tags: settings.tags }) * runIds.length;
        if (bytes > 0) await storageGate.admit(caller, bytes);
        return updateTogether(tx, caller, runIds, { ...settings, now: staleness.ago(0) });
      },
      onChanged(changed) {
        for (const [runId, projectId] of changed) noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
      },
    });
  };
}

function readSettings({ status, tags, notes }: BulkUpdateRunsRequest): RunSettings {
  if ([status, tags, notes].every((setting) => setting === undefined)) {
    throw badRequest("set needs one of status, tags and notes", "set");
  }
  return { status: requireStatus(status), tags: tags?.tags, notes };
}
