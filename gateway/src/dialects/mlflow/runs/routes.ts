import { badRequest, isAppError, notFound } from "@tidemark/errors";
import { requireMessage } from "../../../api/replies.ts";
import type { Route, RouteReply } from "../../../route.ts";
import { key, requireName, textOrNone, timeOrNone } from "../fields.ts";
import { readRunId } from "../ids.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { logBatch, logMetric, logParameter, setTag } from "./batch.ts";
import { createRun } from "./create.ts";
import { findRun, readWholeRun, writingTo } from "./get.ts";
import { mlflowOf, runInfoJson } from "./run-json.ts";
import { searchRuns } from "./search.ts";
import { keptWord, readStatus, storedStatus } from "./statuses.ts";
import { tagsOf } from "./tags.ts";
import { runWriter } from "./write.ts";

const done: RouteReply = { body: {} };

const getRun: MlflowRoute["handle"] = async ({ body }, clients, call) => ({
  body: { run: await readWholeRun(clients, readRunId(body), call) },
});

/** POST runs/update. A run that is running again has no end. */
const updateRun: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const word = body["status"] === undefined || body["status"] === null ? undefined : readStatus(body["status"]);
  const end = timeOrNone.check(body["end_time"] ?? 0, "end_time");
  const sentName = textOrNone().check(body["run_name"] ?? "", "run_name");
  const write = runWriter(runId, {
    name: sentName === undefined ? undefined : requireName(sentName, "run_name"),
    status: word === undefined ? undefined : storedStatus(word),
    mlflow: {
      ...(word === undefined ? {} : { status: keptWord(word) }),
      ...(word === undefined && end === undefined ? {} : { end_time: end ?? null }),
    },
  });
  const run = await writingTo(clients, runId, call, () => write(clients, call));
  return { body: { run_info: runInfoJson(run) }, heartbeatRunIds: [runId] };
};

const deleteTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const runId = readRunId(body);
  const name = key.check(body["key"] ?? "", "key");
  const { summary, isHidden } = await findRun(clients, runId, call);
  if (isHidden) throw badRequest("the run is deleted; restore it first", "run_id");
  const run = requireMessage(summary.run);
  if (!tagsOf(run, mlflowOf(run)).has(name)) throw notFound("tag");
  await runWriter(runId, { tags: new Map([[name, null]]) })(clients, call);
  return { ...done, heartbeatRunIds: [runId] };
};

const deleteRun: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  await clients.runs.deleteRun({ runId: readRunId(body) }, call);
  return done;
};

const restoreRun: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  try {
    await clients.runs.undeleteRun({ runId: readRunId(body) }, call);
  } catch (error) {
    throw isAppError(error) && error.reason === "conflict" ? badRequest(error.message, "run_id") : error;
  }
  return done;
};

const PREFIX = "/api/2.0/mlflow/runs";

/** Runs, their parameters, tags and points. */
export const runRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: `${PREFIX}/create`, use: "write", handle: createRun }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/update`, use: "write", handle: updateRun }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get`, use: "read", handle: getRun }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/search`, use: "read", handle: searchRuns }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/log-batch`, use: "write", isBatch: true, handle: logBatch }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/log-metric`, use: "write", handle: logMetric }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/log-parameter`, use: "write", handle: logParameter }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/set-tag`, use: "write", handle: setTag }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/delete-tag`, use: "write", handle: deleteTag }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/delete`, use: "control", handle: deleteRun }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/restore`, use: "control", handle: restoreRun }),
];
