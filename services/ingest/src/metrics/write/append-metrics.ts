import { hash } from "node:crypto";
import { badRequest, isAppError } from "@tidemark/errors";
import { columnsFromParts, isCodecError, type MetricColumns as Columns } from "@tidemark/codecs/metrics";
import { idempotencyHashes, isAnswered, type Db } from "@tidemark/pg";
import { admitWrite, callerOf, pathId, type PlanGate, type RunDirectory } from "@tidemark/requests";
import type { Refusal } from "@tidemark/proto/common/v1/common";
import type {
  AppendMetricsRequest,
  AppendMetricsTogetherRequestSchema,
  AppendMetricsTogetherResponseSchema,
  MetricColumns,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Call, Handler } from "@tidemark/rpc";
import { throwBodyFault } from "../../writes/write-steps.ts";
import type { MetricWriter } from "./metric-writer.ts";

/*
 * The path of a metric write, in the order in which to read it:
 *
 *     append-metrics.ts         reads the request; several writes may share a call
 *     metric-writer.ts          puts the write into a group with others (infra/work/src/jobs); repeats of a write get its reply
 *     pending-write.rules.ts    a write in the queue, and whether it leaves a dirty marker
 *     commit-group.ts           loads, plans, stores and applies a group, and answers its writes
 *     group-runs.ts             load: what is known of the runs of a group; apply: what is known of them afterwards
 *     run-states.rules.ts       the known state of runs, in memory
 *     plan-group.rules.ts       plan: numbers the keys, merges the aggregates, encodes the segments
 *     run-change.rules.ts       the new keys and the changed aggregate pages of a run, and the values to sort by that change
 *     sort-keys.ts              which keys these are, in memory
 *     aggregate-page.ts         in packages/codecs/src/metrics: the aggregates of a write, and the merge of two aggregates
 *     store-group.sql.ts        store: one statement and one commit
 */

/**
 * Stores a write. With `waits` it waits while another write holds its idempotency key; otherwise it is refused immediately with
 * idempotency_in_progress.
 */
export type AppendMetrics = (
  request: AppendMetricsRequest,
  call: Call,
  options?: { readonly waits: boolean },
) => Promise<{ inserted: number; replayed: boolean }>;

/**
 * IngestService.AppendMetrics.
 * @throws not_found, bad_request, payment_required, plan_limit_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
 */
export function appendMetricsHandler(deps: {
  readonly runs: RunDirectory;
  readonly db: Db;
  readonly metricWriter: MetricWriter;
  readonly pointGate: PlanGate;
}): AppendMetrics {
  const { db, runs, metricWriter, pointGate } = deps;
  return async (request, call, { waits } = { waits: true }) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await throwBodyFault(request.bodyFault, runs, caller, runId);
    const columns = columnsOf(request.columns);
    const projectId = await runs.projectOf(caller, runId);
    const keys = JSON.stringify(columns.keys);
    const idempotency =
      request.idempotencyKey === ""
        ? null
        : idempotencyHashes({
            key: request.idempotencyKey,
            route: `POST /runs/{run_id}/metrics${request.batch ? "/batch" : ""}`,
            parts: [runId, keys, ...fingerprintParts(columns)],
          });
    const admitted = admitWrite(pointGate, caller, columns.values.length, () =>
      isAnswered(db, caller.orgId, request.idempotencyKey),
    );
    if (admitted !== undefined) await admitted;
    return metricWriter.append({
      waits,
      orgId: caller.orgId,
      projectId,
      runId,
      columns,
      keySet: hash("sha256", keys, "base64url"),
      idempotency,
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
 * Returns the content of a batch without its keys, for its fingerprint: all that is stored, regardless of its storage form, so that a repeat
 * is recognized even after an upgrade. The columns have one form for any order of keys in the JSON.
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

/** Most writes of one call. */
const WRITES_MAX = 64;

/**
 * IngestService.AppendMetricsTogether: stores each write separately, all simultaneously. A write that would wait for its idempotency key
 * is sent back, so that the others need not wait with it. Unknown errors are reported to `onUnknownError`, as for a call with one write.
 * @throws bad_request for no write or more than 64
 */
export function appendMetricsTogetherHandler(deps: {
  readonly append: AppendMetrics;
  /** Returns an error as a part of an answer. */
  readonly refusalOf: (error: unknown) => Refusal;
  readonly onUnknownError: (error: unknown) => void;
}): Handler<typeof AppendMetricsTogetherRequestSchema, typeof AppendMetricsTogetherResponseSchema> {
  const { append, refusalOf, onUnknownError } = deps;
  return async ({ writes }, call) => {
    if (writes.length === 0 || writes.length > WRITES_MAX) throw badRequest(`1 to ${WRITES_MAX} writes share a call`);
    const outcomes = await Promise.all(
      writes.map(async (write) => {
        try {
          return { outcome: { case: "stored" as const, value: await append(write, call, { waits: false }) } };
        } catch (error) {
          if (isAppError(error) && error.reason === "idempotency_in_progress") {
            return { outcome: { case: "alone" as const, value: true } };
          }
          if (!isAppError(error)) onUnknownError(error);
          return { outcome: { case: "refused" as const, value: refusalOf(error) } };
        }
      }),
    );
    return { outcomes };
  };
}
