import { sql, type Tx } from "@tidemark/pg";
import type { Dataset, KnownDataset, Tags } from "./run-inputs.rules.ts";

const knownSql = sql(
  "runs_list_known_datasets",
  `SELECT d.name, d.digest, d.tags, d.bytes FROM runs.run_datasets d WHERE d.org_id = $1 AND d.run_id = $2`,
);

/** Returns what identifies the datasets of a run, with their tags and bytes. */
export async function listKnownDatasets(tx: Tx, orgId: string, runId: string): Promise<KnownDataset[]> {
  const rows = await tx.rows<{ name: string; digest: string; tags: string; bytes: number }>(knownSql, [orgId, runId]);
  return rows.map((row) => ({ ...row, tags: JSON.parse(row.tags) as Tags }));
}

const putSql = sql(
  "runs_put_datasets",
  `INSERT INTO runs.run_datasets (org_id, run_id, name, digest, source_type, source, schema, profile, tags)
   SELECT $1, $2, w.name, w.digest, w.source_type, w.source, w.schema, w.profile, w.tags
   FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
     WITH ORDINALITY AS w (name, digest, source_type, source, schema, profile, tags, ordinal)
   ORDER BY w.ordinal
   ON CONFLICT (org_id, run_id, name, digest) DO UPDATE SET tags = excluded.tags`,
);

/** Stores datasets of a run that this transaction has locked; those that it has get the tags alone. */
export async function putDatasets(tx: Tx, orgId: string, runId: string, datasets: readonly Dataset[]): Promise<void> {
  if (datasets.length === 0) return;
  await tx.count(putSql, [
    orgId,
    runId,
    datasets.map(({ name }) => name),
    datasets.map(({ digest }) => digest),
    datasets.map(({ sourceType }) => sourceType),
    datasets.map(({ source }) => source),
    datasets.map(({ schema }) => schema),
    datasets.map(({ profile }) => profile),
    datasets.map(({ tags }) => JSON.stringify(tags)),
  ]);
}

/** Whether a run used a model or made it. */
export type Direction = "input" | "output";

/** A model of a run. */
export type ModelRow = {
  readonly runId: string;
  readonly direction: Direction;
  readonly modelId: string;
  readonly step: number;
};

const addModelsSql = sql(
  "runs_add_models",
  `INSERT INTO runs.run_models (org_id, run_id, direction, model_id, step)
   SELECT $1, $2, $3, w.model_id, w.step
   FROM unnest($4::uuid[], $5::bigint[]) WITH ORDINALITY AS w (model_id, step, ordinal) ORDER BY w.ordinal
   ON CONFLICT (org_id, run_id, direction, model_id, step) DO NOTHING`,
);
const countModelsSql = sql(
  "runs_count_models",
  "SELECT count(*) AS total FROM runs.run_models m WHERE m.org_id = $1 AND m.run_id = $2 AND m.direction = $3",
);

/** Stores models of a run that this transaction has locked, equal ones once. Returns how many it has in this direction if it got any, otherwise 0. */
export async function addModels(
  tx: Tx,
  orgId: string,
  { runId, direction }: Pick<ModelRow, "runId" | "direction">,
  models: readonly Pick<ModelRow, "modelId" | "step">[],
): Promise<number> {
  if (models.length === 0) return 0;
  const ids = models.map(({ modelId }) => modelId);
  const steps = models.map(({ step }) => step);
  if ((await tx.count(addModelsSql, [orgId, runId, direction, ids, steps])) === 0) return 0;
  return (await tx.one<{ total: number }>(countModelsSql, [orgId, runId, direction]))!.total;
}

const weighSql = sql(
  "runs_weigh_datasets",
  `SELECT d.bytes FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(o.bytes), 0)::bigint AS bytes FROM runs.run_datasets o
     WHERE o.org_id = $1 AND o.run_id = asked.id OFFSET 0) d
   ORDER BY asked.ordinal`,
);

/** Returns the bytes of the datasets of each run. */
export async function weighDatasets(tx: Tx, orgId: string, runIds: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ bytes: number }>(weighSql, [orgId, runIds]);
  return rows.map(({ bytes }) => bytes);
}

const listSql = sql(
  "runs_list_datasets",
  `SELECT d.run_id AS "runId", d.name, d.digest, d.source_type AS "sourceType", d.source, d.schema, d.profile, d.tags
   FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (
     SELECT * FROM runs.run_datasets o WHERE o.org_id = $1 AND o.run_id = asked.id OFFSET 0) d
   ORDER BY d.added_at, d.name, d.digest`,
);

/** Returns the datasets of runs that the caller sees, in the order in which they were added. */
export async function listDatasets(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): Promise<{ readonly runId: string; readonly dataset: Dataset }[]> {
  const rows = await tx.rows<Omit<Dataset, "tags"> & { readonly runId: string; readonly tags: string }>(listSql, [
    orgId,
    runIds,
  ]);
  return rows.map(({ runId, ...row }) => ({ runId, dataset: { ...row, tags: JSON.parse(row.tags) as Tags } }));
}

const listModelsSql = sql(
  "runs_list_models",
  `SELECT m.run_id AS "runId", m.direction, m.model_id AS "modelId", m.step
   FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (
     SELECT * FROM runs.run_models o WHERE o.org_id = $1 AND o.run_id = asked.id OFFSET 0) m
   ORDER BY m.added_at, m.model_id, m.step`,
);

/** Returns the models of runs that the caller sees, in the order in which they were added. */
export function listModels(tx: Tx, orgId: string, runIds: readonly string[]): Promise<ModelRow[]> {
  return tx.rows(listModelsSql, [orgId, runIds]);
}

const visibleSql = sql(
  "runs_list_visible_ids",
  `SELECT r.id FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (
     SELECT o.id, o.project_id FROM runs.runs o WHERE o.org_id = $1 AND o.id = asked.id OFFSET 0) r
   WHERE $3::uuid IS NULL OR r.project_id = $3`,
);

/** Returns which of the runs the organization has, in any project or in one. */
export async function listVisibleIds(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  projectId: string | undefined,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(visibleSql, [orgId, runIds, projectId ?? null]);
  return rows.map(({ id }) => id);
}
