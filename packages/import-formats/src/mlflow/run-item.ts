import type { JsonObject, RunItem, RunStatus } from "../items.ts";

/** A run as MLflow knows it, wherever it keeps it. Times in milliseconds since 1970. */
export type MlflowRun = {
  readonly id: string;
  /** The name of its experiment. */
  readonly experiment: string;
  readonly name: string;
  /** The word of its status (mlflow/protos/service.proto, RunStatus). */
  readonly status: string;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly user: string;
  readonly artifactUri: string;
  readonly params: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
};

/** Most parameters of a run that are read, and most tags. */
export const MLFLOW_TEXTS_MAX = 10_000;

/** A run that was killed failed; one that waits for its start runs. */
const statuses: ReadonlyMap<string, RunStatus> = new Map([
  ["FINISHED", "finished"],
  ["FAILED", "failed"],
  ["KILLED", "failed"],
]);

/** Makes the item of a run: experiment is project, parameters are the config (texts, as MLflow keeps them), other tags are `metadata.mlflow.tags`. */
export function mlflowRunItem(run: MlflowRun): RunItem {
  const {
    "mlflow.runName": runName,
    "mlflow.note.content": notes,
    "mlflow.parentRunId": parent,
    "mlflow.user": user = run.user,
    ...tags
  } = run.tags;
  const name = runName ?? run.name;
  const mlflow: JsonObject = {
    tags,
    ...(parent === undefined ? {} : { parent_run_id: parent }),
    ...(user === "" ? {} : { user }),
    ...(run.artifactUri === "" ? {} : { artifact_uri: run.artifactUri }),
  };
  return {
    kind: "run",
    run: run.id,
    source: "mlflow",
    status: statuses.get(run.status) ?? "running",
    ...(run.experiment === "" ? {} : { project: run.experiment }),
    ...(name === "" ? {} : { name }),
    ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt }),
    ...(run.endedAt === undefined ? {} : { finishedAt: run.endedAt }),
    ...(notes === undefined || notes === "" ? {} : { notes }),
    config: run.params,
    metadata: { mlflow },
  };
}
