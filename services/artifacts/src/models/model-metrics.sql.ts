import { createHash } from "node:crypto";
import { sql, type Tx } from "@tidemark/pg";

/** The newest value of a metric of a model, by run and dataset. */
export type ModelMetricRow = {
  readonly modelId: string;
  readonly key: string;
  readonly runId: string;
  readonly datasetName: string;
  readonly datasetDigest: string;
  readonly step: number;
  readonly timeMs: number;
  readonly value: number;
};

const putSql = sql(
  "artifacts_put_model_metrics",
  `INSERT INTO artifacts.model_metrics AS o (org_id, model_id, identity, key, run_id, dataset_name, dataset_digest, step, time_ms, value)
   SELECT $1, w.* FROM unnest($2::uuid[], $3::bytea[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::bigint[],
                              $10::float8[]) AS w
   ON CONFLICT (org_id, model_id, identity) DO UPDATE SET step = excluded.step, time_ms = excluded.time_ms, value = excluded.value
   WHERE (o.step, o.time_ms, o.value) < (excluded.step, excluded.time_ms, excluded.value)`,
);

/** Keeps the newer of each stored metric and a new value; each metric is given once. The models are locked. */
export async function putModelMetrics(tx: Tx, orgId: string, metrics: readonly ModelMetricRow[]): Promise<void> {
  await tx.count(putSql, [
    orgId,
    metrics.map(({ modelId }) => modelId),
    metrics.map(identityOf),
    metrics.map(({ key }) => key),
    metrics.map(({ runId }) => runId),
    metrics.map(({ datasetName }) => datasetName),
    metrics.map(({ datasetDigest }) => datasetDigest),
    metrics.map(({ step }) => step),
    metrics.map(({ timeMs }) => timeMs),
    metrics.map(({ value }) => value),
  ]);
}

function identityOf({ key, runId, datasetName, datasetDigest }: ModelMetricRow): Buffer {
  return createHash("sha256")
    .update(JSON.stringify([key, runId, datasetName, datasetDigest]))
    .digest();
}

const countSql = sql(
  "artifacts_count_model_metrics",
  `SELECT max(c.metrics) AS most FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (
     SELECT count(*) AS metrics FROM artifacts.model_metrics o WHERE o.org_id = $1 AND o.model_id = asked.id OFFSET 0) c`,
);

/** Returns the number of metrics of the model that has most. */
export async function countMetricsMost(tx: Tx, orgId: string, modelIds: readonly string[]): Promise<number> {
  return (await tx.one<{ most: number | null }>(countSql, [orgId, modelIds]))?.most ?? 0;
}

const listSql = sql(
  "artifacts_list_model_metrics",
  `SELECT o.model_id AS "modelId", o.key, o.run_id AS "runId", o.dataset_name AS "datasetName", o.dataset_digest AS "datasetDigest",
          o.step, o.time_ms AS "timeMs", o.value
   FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.model_metrics f WHERE f.org_id = $1 AND f.model_id = asked.id OFFSET 0) o
   ORDER BY o.key, o.run_id, o.dataset_name, o.dataset_digest`,
);

/** Returns the metrics of models, by key, run and dataset. */
export function listModelMetrics(tx: Tx, orgId: string, modelIds: readonly string[]): Promise<ModelMetricRow[]> {
  return modelIds.length === 0 ? Promise.resolve([]) : tx.rows(listSql, [orgId, modelIds]);
}
