import { hash } from "node:crypto";
import { doublesOfBytes, isArchiveError } from "@tidemark/archive";
import { badRequest } from "@tidemark/errors";
import { columnsFromParts, isCodecError, type MetricColumns } from "@tidemark/codecs/metrics";
import type {
  RestoredPoints,
  RestorePointsRequestSchema,
  RestorePointsResponseSchema,
} from "@tidemark/proto/ingest/v1/restore";
import { callerOf, pathId, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import type { MetricWriter } from "../write/metric-writer.ts";
import type { MetricWrite } from "../write/pending-write.rules.ts";
import { hashesOfPart } from "../../writes/write-steps.ts";

/** The most writes of a request. */
const WRITES_MAX = 256;

/** IngestRestoreService.RestorePoints: does what ordinary writes do, with the times at which the points were first received. @throws see restore.proto */
export function restorePointsHandler(deps: {
  readonly runs: RunDirectory;
  readonly metricWriter: MetricWriter;
}): Handler<typeof RestorePointsRequestSchema, typeof RestorePointsResponseSchema> {
  const { runs, metricWriter } = deps;
  return async ({ name, points }, call) => {
    const caller = callerOf(call);
    if (points.length < 1 || points.length > WRITES_MAX) {
      throw badRequest(`points must have 1 to ${WRITES_MAX} items`, "points");
    }
    const ofRuns = new Map<string, MetricWrite[]>();
    for (const [i, message] of points.entries()) {
      const runId = pathId(message.runId, "run");
      const columns = columnsOf(message);
      const keys = JSON.stringify(columns.keys);
      const { steps, createdUs, timestampsUs, values } = message;
      const write: MetricWrite = {
        waits: true,
        orgId: caller.orgId,
        projectId: await runs.projectOf(caller, runId),
        runId,
        columns,
        keySet: hash("sha256", keys, "base64url"),
        idempotency: hashesOfPart(`${name}/${i}`, [runId, keys, steps, createdUs, timestampsUs, values]),
      };
      const before = ofRuns.get(runId);
      if (before === undefined) ofRuns.set(runId, [write]);
      else before.push(write);
    }
    await Promise.all(
      [...ofRuns.values()].map(async (writes) => {
        for (const write of writes) await metricWriter.append(write);
      }),
    );
    return {};
  };
}

const NONE = new Uint32Array(0);

/** @throws bad_request when the arrays do not fit together or hold impossible numbers */
function columnsOf({ keys, steps, createdUs, timestampsUs, values }: RestoredPoints): MetricColumns {
  try {
    const receivedUs = doublesOfBytes(createdUs);
    const columns = columnsFromParts({
      keys,
      steps: doublesOfBytes(steps),
      timestampsUs: doublesOfBytes(timestampsUs),
      offsets: NONE,
      pointIndexes: NONE,
      values: doublesOfBytes(values),
    });
    if (keys.length === 0 || receivedUs.length !== columns.steps.length || !receivedUs.every(Number.isFinite)) {
      throw badRequest("each point needs a key and a time", "points");
    }
    return { ...columns, receivedUs };
  } catch (error) {
    throw isCodecError(error) || isArchiveError(error) ? badRequest(error.message, "points") : error;
  }
}
