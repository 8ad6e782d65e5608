import type { DialectCall, NamedIds } from "./dialect-call.ts";

const rootOf = ({ mlflowExperiment, mlflowRun }: NamedIds): string => `${mlflowExperiment}/${mlflowRun}/artifacts`;
const ofFile: DialectCall = { fields: (ids) => ({ path: `${rootOf(ids)}/a.txt` }), namesRows: true };
const refused: DialectCall = { fields: () => ({ path: "a" }), namesRows: false, status: 501 };

const PREFIX = "/api/2.0/mlflow-artifacts";

/** A request of every route of MLflow for files of runs and models. */
export const mlflowArtifactCalls: Readonly<Record<string, DialectCall>> = {
  [`PUT ${PREFIX}/artifacts/{path*}`]: ofFile,
  [`GET ${PREFIX}/artifacts/{path*}`]: ofFile,
  [`DELETE ${PREFIX}/artifacts/{path*}`]: ofFile,
  [`GET ${PREFIX}/artifacts`]: { fields: (ids) => ({ path: rootOf(ids) }), namesRows: true },
  "GET /api/2.0/mlflow/artifacts/list": { fields: ({ mlflowRun }) => ({ run_id: mlflowRun }), namesRows: true },
  [`POST ${PREFIX}/mpu/create/{path*}`]: refused,
  [`POST ${PREFIX}/mpu/complete/{path*}`]: refused,
  [`POST ${PREFIX}/mpu/abort/{path*}`]: refused,
  [`GET ${PREFIX}/presigned/{path*}`]: refused,
};
