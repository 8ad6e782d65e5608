import { randomUUID } from "node:crypto";
import type { ReportsFixture } from "./reports.fixture.ts";

/** The rows of the large organization of a skewed database. */
export type Skewed = {
  readonly orgId: string;
  /** A tenth of its reports belong to it. */
  readonly projectId: string;
  /** A report with a share token. */
  readonly reportId: string;
};

/**
 * Fills the tables: `organizations` with 1 to 10 reports each, and one with `size` of them. Each has blocks of 10 KB and two panels. Rows arrive in random
 * order; counters are those of the rows. The large organization also has `size` views of other users; every second one is shared.
 */
export async function seedSkewed(
  { ask }: Pick<ReportsFixture, "ask">,
  { organizations, size }: { readonly organizations: number; readonly size: number },
): Promise<Skewed> {
  const [orgId, projectId, reportId] = [randomUUID(), randomUUID(), randomUUID()];
  await ask(
    `CREATE TABLE public.seeded AS
     SELECT CASE WHEN n = 0 THEN $1::uuid ELSE gen_random_uuid() END AS org, CASE WHEN n = 0 THEN $2::uuid ELSE gen_random_uuid() END AS project, n,
            CASE WHEN n = 0 THEN $3::integer ELSE 1 + n % 10 END AS size
     FROM generate_series(0, $4::integer) n`,
    orgId,
    projectId,
    size,
    organizations,
  );
  await ask(
    `CREATE TABLE public.things AS
     SELECT s.*, i, CASE WHEN s.n = 0 AND i = 1 THEN $1::uuid ELSE gen_random_uuid() END AS id
     FROM public.seeded s, generate_series(1, s.size) i ORDER BY random()`,
    reportId,
  );
  await ask(
    `INSERT INTO reports.reports (org_id, id, project_id, title, visibility, block_count, panel_count, panel_bytes, created_at, updated_at)
     SELECT org, id, CASE WHEN i % 10 = 0 THEN project END, 'report ' || i, CASE WHEN i % 2 = 0 THEN 'public' ELSE 'private' END, 1, 2, 22,
            now() - i * interval '1 second', now() - i * interval '1 second' FROM public.things`,
  );
  await ask(
    `INSERT INTO reports.documents (org_id, report_id, blocks, panels, panel_indexes)
     SELECT org, id, '[{"kind":"paragraph","text":"' || repeat(md5(id::text), 320) || '"}]', ARRAY['{"type":"a"}', '{"type":"b"}'], ARRAY[0, 1]
     FROM public.things`,
  );
  await ask(
    `INSERT INTO reports.report_counts (org_id, project_id, reports)
     SELECT org, '00000000-0000-0000-0000-000000000000', size FROM public.seeded
     UNION ALL SELECT org, project, size / 10 FROM public.seeded`,
  );
  await ask(
    `INSERT INTO reports.views (org_id, id, owner_user_id, name, payload, visibility, updated_at)
     SELECT org, gen_random_uuid(), gen_random_uuid(), 'v' || i, '{}', CASE WHEN i % 2 = 0 THEN 'organization' ELSE 'private' END, now() - i * interval '1 second' FROM public.things`,
  );
  await ask("DROP TABLE public.things, public.seeded");
  return { orgId, projectId, reportId };
}
