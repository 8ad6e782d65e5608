import { badRequest } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { object, readField } from "../../../api/fields/field.ts";
import type { Clients } from "../../../clients.ts";
import type { RouteReply } from "../../../route.ts";
import { messages, param, tag } from "../fields.ts";
import { readRunId } from "../ids.ts";
import { MLFLOW_LIMITS } from "../limits.ts";
import { readModelPoints } from "../metrics/model-points.ts";
import { createPointReader, pointsWriter } from "../metrics/points.ts";
import type { MlflowRoute } from "../route.ts";
import { writingTo } from "./get.ts";
import { runWriter, type RunTexts } from "./write.ts";

const { batch } = MLFLOW_LIMITS;

const textFields = object({ params: messages(batch.params, param.read), tags: messages(batch.tags, tag.read) });

/** Writes texts of a run, then its points: a refusal of the texts leaves nothing. Points alone, and texts alone, are one call. */
async function writeAll(
  clients: Clients,
  call: Call,
  runId: string,
  {
    points,
    modelPoints = [],
    ...texts
  }: RunTexts & {
    readonly points?: Parameters<typeof pointsWriter>[1];
    readonly modelPoints?: ReturnType<typeof readModelPoints>;
  },
): Promise<RouteReply> {
  const hasTexts = (texts.params?.length ?? 0) > 0 || (texts.tags?.size ?? 0) > 0;
  const writeTexts = hasTexts ? runWriter(runId, texts) : undefined;
  const writePoints = points === undefined || points.length === 0 ? undefined : pointsWriter(runId, points);
  await writingTo(clients, runId, call, async () => {
    await writeTexts?.(clients, call);
    // Before the points: a model that does not exist leaves none.
    if (modelPoints.length > 0) await clients.models.logModelMetrics({ runId, points: modelPoints }, call);
    await writePoints?.(clients, call);
  });
  return { body: {}, heartbeatRunIds: [runId] };
}

/** POST runs/log-batch. */
export const logBatch: MlflowRoute["handle"] = ({ body }, clients, call) => {
  const runId = readRunId(body);
  const metrics = readField(messages(batch.metrics, createPointReader()), body, "metrics");
  const { params, tags } = textFields.read(body);
  if (metrics.length + params.length + tags.length > batch.together)
    throw badRequest(`metrics, params and tags must have at most ${batch.together} items together`);
  const byKey = new Map(tags.map(({ key, value }) => [key, value]));
  const modelPoints = readModelPoints(body["metrics"]);
  return writeAll(clients, call, runId, { points: metrics, modelPoints, params, tags: byKey });
};

/** POST runs/log-metric. */
export const logMetric: MlflowRoute["handle"] = ({ body }, clients, call) =>
  writeAll(clients, call, readRunId(body), {
    points: [createPointReader()(body)],
    modelPoints: readModelPoints([body]),
  });

/** POST runs/log-parameter. */
export const logParameter: MlflowRoute["handle"] = ({ body }, clients, call) =>
  writeAll(clients, call, readRunId(body), { params: [param.read(body)] });

/** POST runs/set-tag. */
export const setTag: MlflowRoute["handle"] = ({ body }, clients, call) => {
  const { key, value } = tag.read(body);
  return writeAll(clients, call, readRunId(body), { tags: new Map([[key, value]]) });
};
