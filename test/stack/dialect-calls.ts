import type { DialectCall } from "./dialect-call.ts";
import { mlflowArtifactCalls } from "./mlflow-artifact-calls.ts";
import { mlflowModelCalls } from "./mlflow-model-calls.ts";

const ofNothing = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: () => fields,
  namesRows: false,
});
const ofRun = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: ({ mlflowRun }) => ({ run_id: mlflowRun, ...fields }),
  namesRows: true,
});
const ofExperiment = (fields: Readonly<Record<string, unknown>> = {}): DialectCall => ({
  fields: ({ mlflowExperiment }) => ({ experiment_id: mlflowExperiment, ...fields }),
  namesRows: true,
});

const point = { key: "a", value: 1, timestamp: 1, step: 0 };

/** A request of every route of a dialect, by method and path. */
export const dialectCalls: Readonly<Record<string, DialectCall>> = {
  "GET /api/3.0/mlflow/server-info": ofNothing(),
  ...mlflowModelCalls,
  ...mlflowArtifactCalls,
  "POST /api/2.0/mlflow/experiments/create": ofNothing({ name: "a name of its own" }),
  "GET /api/2.0/mlflow/experiments/get": ofExperiment(),
  "GET /api/2.0/mlflow/experiments/get-by-name": ofNothing({ experiment_name: "Default" }),
  "POST /api/2.0/mlflow/experiments/search": ofNothing(),
  "GET /api/2.0/mlflow/experiments/search": ofNothing(),
  "POST /api/2.0/mlflow/experiments/update": ofExperiment({ new_name: "x" }),
  "POST /api/2.0/mlflow/experiments/set-experiment-tag": ofExperiment({ key: "a", value: "b" }),
  "POST /api/2.0/mlflow/experiments/delete-experiment-tag": ofExperiment({ key: "a" }),
  "POST /api/2.0/mlflow/experiments/delete": ofExperiment(),
  "POST /api/2.0/mlflow/experiments/restore": ofExperiment(),
  "POST /api/2.0/mlflow/runs/create": ofExperiment(),
  "POST /api/2.0/mlflow/runs/update": ofRun({ status: "FINISHED" }),
  "GET /api/2.0/mlflow/runs/get": ofRun(),
  "POST /api/2.0/mlflow/runs/search": {
    fields: ({ mlflowExperiment }) => ({ experiment_ids: [mlflowExperiment] }),
    namesRows: false,
  },
  "POST /api/2.0/mlflow/runs/log-batch": ofRun({ metrics: [point], params: [{ key: "a", value: "b" }] }),
  "POST /api/2.0/mlflow/runs/log-metric": ofRun(point),
  "POST /api/2.0/mlflow/runs/log-parameter": ofRun({ key: "a", value: "b" }),
  "POST /api/2.0/mlflow/runs/set-tag": ofRun({ key: "a", value: "b" }),
  "POST /api/2.0/mlflow/runs/delete-tag": ofRun({ key: "a" }),
  "POST /api/2.0/mlflow/runs/delete": ofRun(),
  "POST /api/2.0/mlflow/runs/restore": ofRun(),
  "GET /api/2.0/mlflow/metrics/get-history": ofRun({ metric_key: "a" }),
};

/** Returns the address and the body of a call. */
export function sentAs(
  route: string,
  fields: Readonly<Record<string, unknown>>,
): { readonly method: string; readonly path: string; readonly body?: unknown } {
  const [method = "", template = ""] = route.split(" ");
  const path = template.replaceAll(/\{(\w+)\*?\}/g, (_whole, name: string) => String(fields[name]));
  if (method !== "GET") return { method, path, body: fields };
  const query = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { method, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}
