import type pg from "pg";

/** The measured ids in one organization. */
export type SeededArtifacts = {
  /** It has 1,000 artifacts. */
  readonly runId: string;
  /** The newest version of its collection, with 1,000 entries and the alias `best`. */
  readonly versionId: string;
  /** The name of that collection; no other one of the organization has it. */
  readonly name: string;
};

const ROWS = 1000;
const NAME = "measured";

/** One of `every` runs of all organizations, numbered within their projects; versions belong to collections of ten. */
const numberRuns = (every: number): string => `
  CREATE TEMPORARY TABLE numbered AS
  SELECT org_id AS org, id AS run, project_id AS project, row_number() OVER (PARTITION BY org_id, project_id ORDER BY id) - 1 AS n
  FROM (SELECT r.*, row_number() OVER (PARTITION BY org_id ORDER BY id) - 1 AS number FROM runs.runs r) r
  WHERE number % ${every} = 0 ORDER BY random()`;
const collectionId = `md5(project || ' collection ' || n / 10)::uuid`;
const versionId = `md5(run || ' version')::uuid`;

const artifactColumns = `org_id, id, run_id, project_id, type, name, uri, step, size_bytes, sha256, mime_type, storage_backend, metadata, created_at`;
const artifactOf = (org: string, run: string, project: string, i: string): string => `
  SELECT ${org}, gen_random_uuid(), ${run}, ${project}, 'checkpoint', 'checkpoints/step-' || ${i} * 500 || '.safetensors', 's3://bucket/' || ${i},
         ${i} * 500, 1000000 + ${i}, encode(sha256(${i}::text::bytea), 'hex'), 'application/octet-stream', 'external',
         '{"epoch":' || ${i} || ',"val_loss":0.42}', now() - ${i} * interval '1 second'`;
const entryColumns = `org_id, id, version_id, path, kind, size_bytes, sha256, mime_type, object_id`;
const entryOf = (org: string, version: string, i: string): string => `
  SELECT ${org}, gen_random_uuid(), ${version}, 'shards/part-' || lpad(${i}::text, 5, '0') || '.safetensors', 'file', 1000000 + ${i},
         sha256(${i}::text::bytea), 'application/octet-stream', gen_random_uuid()`;
const versionColumns = `org_id, id, collection_id, project_id, version_index, digest, source_run_id, file_count, size_bytes, retention_mode`;

/** Five artifacts and a version of three files for each run. */
const forAllRuns = [
  `INSERT INTO artifacts.artifacts (${artifactColumns}) ${artifactOf("org", "run", "project", "i")} FROM numbered, generate_series(1, 5) i`,
  `INSERT INTO artifacts.run_counts (org_id, run_id, checkpoints) SELECT org, run, 5 FROM numbered`,
  `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, metadata, next_index, versions_active, bytes_active)
   SELECT org, ${collectionId}, project, 'model', 'model-' || n / 10, '{}', count(*), count(*), 3000006 * count(*)
   FROM numbered GROUP BY org, project, n / 10`,
  `INSERT INTO artifacts.versions (${versionColumns})
   SELECT org, ${versionId}, ${collectionId}, project, n % 10, sha256(run::text::bytea), run, 3, 3000006, 'inherit' FROM numbered`,
  `INSERT INTO artifacts.entries (${entryColumns}) ${entryOf("org", versionId, "i")} FROM numbered, generate_series(1, 3) i`,
  `INSERT INTO artifacts.aliases (org_id, collection_id, alias, version_id)
   SELECT org, ${collectionId}, 'best', ${versionId} FROM numbered WHERE n % 10 = 0`,
  `INSERT INTO artifacts.edges (org_id, id, run_id, version_id, direction, project_id)
   SELECT org, gen_random_uuid(), run, ${versionId}, 'output', project FROM numbered`,
  `INSERT INTO artifacts.storage (org_id, slot, artifact_bytes, version_bytes, artifacts, collections, versions_active)
   SELECT org, 0, 0, 3000006 * count(*), 5 * count(*), count(DISTINCT (project, n / 10)), count(*) FROM numbered GROUP BY org`,
];

/** One run of each organization $1, with the id of the version that it will have. */
const chooseMeasured = `
  CREATE TEMPORARY TABLE measured AS
  SELECT DISTINCT ON (org) org, run, project, gen_random_uuid() AS version FROM numbered WHERE org = ANY ($1::uuid[]) ORDER BY org, run`;

/** Data for the measured runs: 1,000 artifacts, and a collection of 20 versions whose newest one has 1,000 entries. */
const forMeasured = [
  `INSERT INTO artifacts.artifacts (${artifactColumns}) ${artifactOf("org", "run", "project", "i")} FROM measured, generate_series(6, ${ROWS}) i`,
  `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, metadata, next_index, versions_active, bytes_active)
   SELECT org, version, project, 'model', '${NAME}', '{}', 20, 20, 0 FROM measured`,
  `INSERT INTO artifacts.versions (${versionColumns})
   SELECT org, CASE WHEN i = 19 THEN version ELSE gen_random_uuid() END, version, project, i, sha256(i::text::bytea), run, ${ROWS}, 0, 'inherit'
   FROM measured, generate_series(0, 19) i`,
  `INSERT INTO artifacts.aliases (org_id, collection_id, alias, version_id) SELECT org, version, 'best', version FROM measured`,
  `INSERT INTO artifacts.entries (${entryColumns}) ${entryOf("org", "version", "i")} FROM measured, generate_series(1, ${ROWS}) i`,
];

/**
 * Gives artifacts and versions to the runs that are there, or to one of `every` runs of each organization, and the measured data to one run of each
 * measured organization. Writes tables and not through the API, because only the rows are needed; there are no bytes behind them. Rows are
 * in random order. `client` is the owner of the database.
 */
export async function seedArtifacts(
  client: pg.ClientBase,
  organizations: readonly string[],
  { every = 1 }: { readonly every?: number } = {},
): Promise<ReadonlyMap<string, SeededArtifacts>> {
  await client.query(numberRuns(every));
  await client.query(chooseMeasured, [organizations]);
  for (const statement of [...forAllRuns, ...forMeasured]) await client.query(statement);
  const { rows } = await client.query<{ org: string; run: string; version: string }>("SELECT * FROM measured");
  await client.query("DROP TABLE numbered, measured");
  return new Map(rows.map(({ org, run, version }) => [org, { runId: run, versionId: version, name: NAME }]));
}
