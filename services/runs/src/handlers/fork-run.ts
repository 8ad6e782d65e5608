import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { isAppError, notFound, type AppError } from "@tidemark/errors";
import { withIdempotency } from "@tidemark/pg";
import { ForkRunResponseSchema, type ForkRunResponse } from "@tidemark/proto/runs/v1/runs";
import { callerOf, pathId, throwFault } from "@tidemark/requests";
import { readDocument } from "../documents/exact-json.rules.ts";
import { forkFingerprint } from "../domain/fork-fingerprint.ts";
import { refuseReservedKeys, refuseStep, type ForkWish } from "../domain/fork.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { NO_METRICS } from "../metrics/aggregates.rules.ts";
import { encodeRunSummary } from "../read/encode-run.ts";
import { findRun, type RunRow } from "../read/runs.sql.ts";
import { forkOrFind } from "../steps/fork-or-find.ts";

type Request = Parameters<RunsHandlers["forkRun"]>[0];

/**
 * Creates a child of a run in its project (API specification, POST /api/runs/{run_id}/forks). A
 * repeat under one key gets the stored answer, and where that has expired the child as it is by
 * then. Whether the caller may see the parent is asked each time.
 * @throws not_found, then bad_request, then idempotency_key_reused, idempotency_in_progress,
 *   not_found for the artifact, payment_required, plan_limit_exceeded
 */
export function forkRun(deps: RunsDeps): RunsHandlers["forkRun"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { idempotencyKey: key } = request;
    const runId = pathId(request.runId, "run");
    const wish = readWish(request);
    const fingerprint = isAppError(wish) ? new Uint8Array() : forkFingerprint(runId, wish);
    let source: RunRow | undefined;
    let known = false;
    const { reply, replayed } = await withIdempotency(
      deps.db,
      caller.orgId,
      key === "" || isAppError(wish)
        ? undefined
        : { key, route: "POST /api/runs/{run_id}/forks", parts: [runId, fingerprint] },
      async (tx) => {
        source = await findRun(tx, caller.orgId, runId, caller.projectId);
        if (source === undefined) throw notFound("run");
        if (isAppError(wish)) throw wish;
      },
      async (tx) => {
        if (source === undefined || isAppError(wish)) throw new Error("a fork was not checked");
        const child = await forkOrFind(tx, deps, caller, { source, wish, key, fingerprint });
        known = child.known;
        return toBinary(ForkRunResponseSchema, answerOf(source, child.row));
      },
    );
    return { ...fromBinary(ForkRunResponseSchema, reply), replayed: replayed || known };
  };
}

/** Faults of the body wait until the run was found. */
function readWish(request: Request): ForkWish | AppError {
  try {
    throwFault(request.bodyFault);
    const metadata = readDocument(request.metadataJson, "metadata");
    refuseReservedKeys(metadata);
    refuseStep(request.step);
    return {
      name: request.name,
      step: request.step,
      checkpointArtifactId: request.checkpointArtifactId,
      inheritConfig: request.inheritConfig ?? true,
      configOverrides: readDocument(request.configOverridesJson, "config_overrides"),
      tags: request.tags,
      notes: request.notes,
      metadata,
    };
  } catch (error) {
    if (isAppError(error)) return error;
    throw error;
  }
}

function answerOf(source: RunRow, child: RunRow): ForkRunResponse {
  const where = child.forked_from_step === null ? "" : ` at step ${child.forked_from_step}`;
  return create(ForkRunResponseSchema, {
    run: encodeRunSummary({ ...child, ...NO_METRICS }),
    message: `forked from ${source.name}${where}; training is not started, metrics and artifacts are not copied`,
  });
}
