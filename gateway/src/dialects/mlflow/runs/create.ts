import { object } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import { jsonBytes } from "../documents.ts";
import { experimentMetadataOf } from "../experiments/experiment.ts";
import { experimentToWrite } from "../experiments/find.ts";
import { messages, tag, textOrNone, timeOrNone } from "../fields.ts";
import { DEFAULT_EXPERIMENT, mlflowRunId } from "../ids.ts";
import { MLFLOW_LIMITS } from "../limits.ts";
import type { MlflowRoute } from "../route.ts";
import { runJson } from "./run-json.ts";
import { nameOfNew, tagChanges } from "./tags.ts";

const createFields = object({
  user_id: textOrNone(),
  run_name: textOrNone(),
  start_time: timeOrNone,
  tags: messages(MLFLOW_LIMITS.batch.tags, tag.read),
});

/** POST runs/create: without an experiment in `Default`, without a name with one of the server's. */
export const createRun: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { userId, runName, startTime, tags: sent } = createFields.read(body);
  const tags = new Map(sent.map(({ key, value }) => [key, value]));
  const name = nameOfNew(runName, tags);
  const { notes, readme, mlflow } = tagChanges(tags);
  const experiment = await experimentToWrite(clients, body["experiment_id"] ?? DEFAULT_EXPERIMENT.id, call);
  const { artifactLocation } = experimentMetadataOf(experiment);
  const id = artifactLocation === undefined ? undefined : crypto.randomUUID();
  const kept = {
    ...(userId === undefined ? {} : { user: userId }),
    ...(startTime === undefined ? {} : { start_time: startTime }),
    ...(id === undefined ? {} : { artifact_location: `${artifactLocation}/${mlflowRunId(id)}/artifacts` }),
    ...mlflow,
  };
  const metadata = {
    mlflow: Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== null)),
    ...(notes === undefined || notes === "" ? {} : { notes }),
  };
  const { run } = await clients.runs.createRun(
    {
      mode: "create",
      project: experiment.name,
      metadataJson: jsonBytes(metadata),
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
    },
    call,
  );
  const created = requireMessage(run);
  if (readme !== undefined) await clients.runs.putReadme({ runId: created.id, markdown: readme }, call);
  return { body: { run: runJson(created, []) } };
};
