import type { ExactObject } from "@tidemark/documents";
import type { MetricAggregates, Run } from "@tidemark/proto/runs/v1/runs";
import type { RunInputs } from "@tidemark/proto/runs/v1/inputs";
import type { Json } from "../../../http/json.ts";
import { inputsJson } from "../inputs/inputs-json.ts";
import { documentOf, memberObject, pairs } from "../documents.ts";
import { experimentIdOf, mlflowRunId } from "../ids.ts";
import { configToParams } from "./params.ts";
import { wordOf } from "./statuses.ts";
import { tagsOf } from "./tags.ts";

/** How a run is seen, besides its row. */
export type Seen = {
  /** The status that is shown; by default the stored one. */
  readonly displayStatus?: string | undefined;
  readonly isHidden?: boolean;
  /** What it used and made. */
  readonly used?: RunInputs;
};

/** The facts of a run. */
function runInfo(run: Run, mlflow: ExactObject, { displayStatus = run.status, isHidden = false }: Seen): Json {
  const id = mlflowRunId(run.id);
  const experiment = experimentIdOf(run.project, run.projectNumber);
  const { start_time: start, end_time: end, user, artifact_location: location } = mlflow;
  const finished = run.finishedAt === undefined ? undefined : Date.parse(run.finishedAt);
  return {
    run_id: id,
    run_uuid: id,
    run_name: run.name,
    experiment_id: experiment,
    user_id: typeof user === "string" ? user : "",
    status: wordOf(run.status, displayStatus, mlflow["status"]),
    start_time: typeof start === "number" ? start : Date.parse(run.startedAt),
    // The row of a run that runs again has its earlier end.
    end_time: run.status === "running" ? undefined : typeof end === "number" ? end : finished,
    artifact_uri: typeof location === "string" ? location : `mlflow-artifacts:/${experiment}/${id}/artifacts`,
    lifecycle_stage: isHidden ? "deleted" : "active",
  };
}

/** Returns what MLflow keeps in the metadata of a run. */
export function mlflowOf({ metadataJson }: Pick<Run, "metadataJson">): ExactObject {
  return memberObject(documentOf(metadataJson), "mlflow");
}

/** The facts of a run. */
export function runInfoJson(run: Run, seen: Seen = {}): Json {
  return runInfo(run, mlflowOf(run), seen);
}

/** A run with its parameters, tags and latest metrics. */
export function runJson(run: Run, metrics: readonly Json[], seen: Seen = {}): Json {
  const mlflow = mlflowOf(run);
  return {
    info: runInfo(run, mlflow, seen),
    data: { metrics, params: configToParams(documentOf(run.configJson)), tags: pairs(tagsOf(run, mlflow)) },
    ...(seen.used === undefined ? { inputs: {} } : inputsJson(seen.used)),
  };
}

/** A number as MLflow writes it. */
export function doubleJson(value: number): Json {
  return Number.isFinite(value) ? value : String(value);
}

/** The latest values of metrics. `others` are those that are not finite, by key. */
export function latestJson(
  metrics: MetricAggregates,
  others: ReadonlyMap<string, { step: number; value: number }>,
): Json[] {
  return metrics.keys.map((key, i) => {
    const other = others.get(key);
    const { step, value } = other ?? { step: metrics.latestStep[i]!, value: metrics.latest[i]! };
    return { key, value: doubleJson(value), step };
  });
}
