import { badRequest } from "@tidemark/errors";
import {
  columnsFromParts,
  encodeLanding,
  headsOfColumns,
  isCodecError,
  type MetricColumns as Columns,
} from "@tidemark/metric-codec";
import { idempotencyHashes, type Db } from "@tidemark/pg";
import type {
  AppendMetricsRequestSchema,
  AppendMetricsResponseSchema,
  MetricColumns,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import type { IdSource } from "../domain/id-source.ts";
import { appendMetrics } from "../store/append-metrics.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { callerOf, refuseFaultyBody, runIdOf } from "./request.ts";
import { settleWrite } from "./settle-write.ts";

/** IngestService.AppendMetrics. @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress */
export function appendMetricsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
}): Handler<typeof AppendMetricsRequestSchema, typeof AppendMetricsResponseSchema> {
  const { db, runs, ids } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await refuseFaultyBody(request.bodyFault, runs, caller, runId);
    const columns = columnsOf(request.columns);
    const outcome = await appendMetrics(db, {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId,
      idempotency:
        request.idempotencyKey === ""
          ? null
          : idempotencyHashes({
              key: request.idempotencyKey,
              route: `POST /runs/{run_id}/metrics${request.batch ? "/batch" : ""}`,
              parts: [runId, ...fingerprintParts(columns)],
            }),
      takeId: () => ids.take(1),
      block: encodeLanding(columns),
      ...stepRange(columns.steps),
      valueCount: columns.values.length,
      heads: headsOfColumns(columns),
    });
    return settleWrite(outcome, runs, caller, runId);
  };
}

/** @throws bad_request when the arrays do not fit together or hold impossible numbers */
function columnsOf(message: MetricColumns | undefined): Columns {
  if (message === undefined || message.values.length === 0) throw badRequest("at least one point is needed");
  try {
    return columnsFromParts(message);
  } catch (error) {
    throw isCodecError(error) ? badRequest(error.message) : error;
  }
}

/**
 * The content of a batch for its fingerprint: everything that is stored, and independent of how it
 * is stored, so that a repeat is known as such also after an upgrade. The columns are in one form
 * whatever the order of keys in the JSON was.
 */
function fingerprintParts(columns: Columns): (string | Uint8Array)[] {
  const bytes = (array: Float64Array | Uint32Array): Uint8Array =>
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return [
    JSON.stringify(columns.keys),
    bytes(columns.steps),
    bytes(columns.timestampsUs),
    bytes(columns.values),
    bytes(columns.offsets),
    bytes(columns.pointIndexes),
  ];
}

function stepRange(steps: Float64Array): { lowestStep: number; highestStep: number } {
  let lowestStep = steps[0]!;
  let highestStep = lowestStep;
  for (const step of steps) {
    if (step < lowestStep) lowestStep = step;
    if (step > highestStep) highestStep = step;
  }
  return { lowestStep, highestStep };
}
