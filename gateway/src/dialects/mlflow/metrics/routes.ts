import { badRequest } from "@tidemark/errors";
import { object, withDefault } from "../../../api/fields/field.ts";
import type { Route } from "../../../route.ts";
import { key, textOrNone, wholeNumber } from "../fields.ts";
import { readRunId } from "../ids.ts";
import { MLFLOW_LIMITS } from "../limits.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { doubleJson } from "../runs/run-json.ts";
import { historyPage, readPlace, writePlace, type HistoryPlace } from "./history-page.ts";

const historyFields = object({
  metric_key: key,
  max_results: withDefault(wholeNumber(1), MLFLOW_LIMITS.historyPageRows),
  page_token: textOrNone(),
});

/** Stored points of one step that are read back; a run that logs without steps may have many at step 0. */
const POINTS_OF_STEP_MAX = 250_000;

const beginning: HistoryPlace = { step: 0, skip: 0 };

/** GET metrics/get-history: pages of at most 25,000 points by step, then time. */
const getHistory: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const { metricKey, maxResults, pageToken } = historyFields.read(body);
  const from = pageToken === undefined ? beginning : readPlace(pageToken);
  if (from === undefined) throw badRequest("page_token is not a token of this list", "page_token");
  const rowsMax = Math.min(maxResults, MLFLOW_LIMITS.historyPageRows);
  if (from.skip > POINTS_OF_STEP_MAX)
    throw badRequest(`a history shows at most ${POINTS_OF_STEP_MAX} points of one step`, "page_token");
  const { keys, truncated } = await clients.ingestRead.listMetricPoints(
    { runId, key: metricKey, startStep: from.step, limit: from.skip + rowsMax },
    call,
  );
  const columns = keys[0]?.points;
  if (columns === undefined) return { body: {} };
  const { points, next } = historyPage(columns, from, rowsMax, truncated);
  return {
    body: {
      metrics: points.map(({ step, timestamp, value }) => ({
        key: metricKey,
        value: doubleJson(value),
        timestamp,
        step,
      })),
      next_page_token: next && writePlace(next),
    },
  };
};

/** Histories of metrics. */
export const metricRoutes: readonly Route[] = [
  mlflowRoute({ method: "GET", path: "/api/2.0/mlflow/metrics/get-history", use: "read", handle: getHistory }),
];
