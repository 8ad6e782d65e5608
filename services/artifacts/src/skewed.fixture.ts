import { randomUUID } from "node:crypto";
import type { ArtifactsFixture, Tenant } from "./artifacts.fixture.ts";

/** The content of the large organization of a skewed database; everything is in one project. */
export type Skewed = Tenant & {
  /** It has `size` artifacts. */
  readonly runId: string;
  /** It has `size` versions, half of them with an alias. */
  readonly collectionId: string;
  /** It has 1,000 entries, and `size` runs used it. It is also the id of the model `m1`, and of the registered model `m1` with `size` versions. */
  readonly versionId: string;
};

/**
 * Fills the tables: `organizations` with 1 to 10 runs, artifacts, collections, versions, models and registered models each, and one with `size` of each. Rows are in random order.
 * The counters of organizations and of collections match the rows.
 */
export async function seedSkewed(
  { ask }: Pick<ArtifactsFixture, "ask">,
  { organizations, size }: { readonly organizations: number; readonly size: number },
): Promise<Skewed> {
  const orgId = randomUUID();
  await ask(
    `CREATE TABLE public.seeded AS
     SELECT CASE WHEN n = 0 THEN $1::uuid ELSE gen_random_uuid() END AS org, gen_random_uuid() AS project, n,
            CASE WHEN n = 0 THEN $2::integer ELSE 1 + n % 10 END AS size,
            gen_random_uuid() AS run, gen_random_uuid() AS collection, gen_random_uuid() AS version
     FROM generate_series(0, $3::integer) n`,
    orgId,
    size,
    organizations,
  );
  await ask("INSERT INTO runs.projects (org_id, id, name) SELECT org, project, 'p' FROM public.seeded");
  await ask(
    `CREATE TABLE public.things AS
     SELECT s.*, i, gen_random_uuid() AS id, gen_random_uuid() AS other_collection FROM public.seeded s, generate_series(1, s.size) i
     ORDER BY random()`,
  );
  await ask(
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
     SELECT org, CASE WHEN i = 1 THEN run ELSE id END, project, 'run', 'running', '{}', '{}', '{}', now() - i * interval '1 second', now()
     FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata, created_at)
     SELECT org, id, run, project, 'file', 'a' || i, 'u', 'm', 'external', '{}', now() - i * interval '1 second' FROM public.things`,
  );
  await ask(`INSERT INTO artifacts.run_counts (org_id, run_id, files) SELECT org, run, size FROM public.seeded`);
  await ask(
    `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, metadata, next_index, versions_active, bytes_active, updated_at)
     SELECT org, CASE WHEN i = 1 THEN collection ELSE other_collection END, project, 'model', 'c' || i, '{}',
            CASE WHEN i = 1 THEN size ELSE 0 END, CASE WHEN i = 1 THEN size ELSE 0 END, 0, now() - i * interval '1 second'
     FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.versions (org_id, id, collection_id, project_id, version_index, digest, source_run_id, file_count, size_bytes, retention_mode)
     SELECT org, CASE WHEN i = 1 THEN version ELSE id END, collection, project, i - 1, sha256(id::text::bytea), run, 1, 0, 'inherit'
     FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.aliases (org_id, collection_id, alias, version_id)
     SELECT org, collection, 'alias-' || i, CASE WHEN i = 1 THEN version ELSE id END FROM public.things WHERE i % 2 = 1`,
  );
  await ask(
    `INSERT INTO artifacts.edges (org_id, id, run_id, version_id, direction, project_id, created_at)
     SELECT org, gen_random_uuid(), CASE WHEN i = 1 THEN run ELSE id END, version, 'input', project, now() + i * interval '1 second'
     FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.entries (org_id, id, version_id, path, kind, mime_type, reference_uri)
     SELECT org, gen_random_uuid(), version, 'f' || i, 'reference', 'm', 'u' FROM public.things WHERE i <= 1000`,
  );
  await ask(
    `INSERT INTO artifacts.storage (org_id, slot, artifacts, unknown_sizes, collections, versions_active)
     SELECT org, 0, size, size, size, size FROM public.seeded`,
  );
  await ask(
    `INSERT INTO artifacts.models (org_id, id, project_id, name, type, params, tags, created_at)
     SELECT org, CASE WHEN i = 1 THEN version ELSE id END, project, 'm' || i, '', '{}', '{}', now() - i * interval '1 second' FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.registered_models (org_id, id, name, project_id, description, tags, next_number, updated_at)
     SELECT org, CASE WHEN i = 1 THEN version ELSE id END, 'm' || i, project, '', '{}', 1 + size, now() - i * interval '1 second'
     FROM public.things`,
  );
  await ask(
    `INSERT INTO artifacts.registered_versions (org_id, id, registered_id, number, project_id, source, run_link, description, tags, updated_at)
     SELECT org, id, version, i, project, 's', '', '', '{}', now() - i * interval '1 second' FROM public.things`,
  );
  const [large] = await ask<Omit<Skewed, "orgId">>(
    `SELECT project AS "projectId", run AS "runId", collection AS "collectionId", version AS "versionId" FROM public.seeded WHERE n = 0`,
  );
  return { ...large!, orgId };
}
