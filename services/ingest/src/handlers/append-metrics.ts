import { hash } from "node:crypto";
import { badRequest } from "@tidemark/errors";
import { columnsFromParts, isCodecError, type MetricColumns as Columns } from "@tidemark/metric-codec";
import { idempotencyHashes } from "@tidemark/pg";
import type { AppendMetricsRequest, MetricColumns } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { MetricWriter } from "../group-commit/metric-writer.ts";
import type { RunDirectory } from "../runs/run-directory.ts";
import { throwBodyFault } from "../writes/write-steps.ts";

/** Stores a write. Without `waits` one whose key another write holds is refused at once with idempotency_in_progress; otherwise it waits. */
export type AppendMetrics = (
  request: AppendMetricsRequest,
  call: Call,
  options?: { readonly waits: boolean },
) => Promise<{ inserted: number; replayed: boolean }>;

/**
 * IngestService.AppendMetrics.
 * @throws not_found, bad_request, idempotency_key_reused, idempotency_in_progress, service_unavailable
 */
export function appendMetricsHandler(deps: {
  readonly runs: RunDirectory;
  readonly metricWriter: MetricWriter;
}): AppendMetrics {
  const { runs, metricWriter } = deps;
  return async (request, call, { waits } = { waits: true }) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await throwBodyFault(request.bodyFault, runs, caller, runId);
    const columns = columnsOf(request.columns);
    await runs.require(caller, [runId]);
    const keys = JSON.stringify(columns.keys);
    return metricWriter.append({
      waits,
      orgId: caller.orgId,
      runId,
      columns,
      keySet: hash("sha256", keys, "base64url"),
      idempotency:
        request.idempotencyKey === ""
          ? null
          : idempotencyHashes({
              key: request.idempotencyKey,
              route: `POST /runs/{run_id}/metrics${request.batch ? "/batch" : ""}`,
              parts: [runId, keys, ...fingerprintParts(columns)],
            }),
    });
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
 * The content of a batch beside its keys, for its fingerprint: all that is stored, and independent of how it
 * is stored, so that a repeat is known as such also after an upgrade. The columns are in one form
 * whatever the order of keys in the JSON was.
 */
function fingerprintParts(columns: Columns): Uint8Array[] {
  const bytes = (array: Float64Array | Uint32Array): Uint8Array =>
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return [
    bytes(columns.steps),
    bytes(columns.timestampsUs),
    bytes(columns.values),
    bytes(columns.offsets),
    bytes(columns.pointIndexes),
  ];
}
