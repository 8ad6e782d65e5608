import { randomUUID } from "node:crypto";
import { queryDatabase } from "../../stack/attach.ts";
import type { Stack } from "../../stack/stack.ts";

/** Fills a new project with finished runs `run-000001`, …, past the services; the last is the newest. Returns the id of the project. */
export async function seedProject(
  stack: Pick<Stack, "databaseUrl">,
  { orgId, name, runs }: { readonly orgId: string; readonly name: string; readonly runs: number },
): Promise<string> {
  const projectId = randomUUID();
  const project = "INSERT INTO runs.projects (org_id, id, name, runs_finished) VALUES ($1, $2, $3, $4)";
  await queryDatabase(stack as Stack, project, [orgId, projectId, name, runs]);
  await queryDatabase(
    stack as Stack,
    `WITH wanted AS MATERIALIZED (
       SELECT i, gen_random_uuid() AS id FROM generate_series(1, $3::int) i
     ), taken AS (
       INSERT INTO runs.run_ids (id, org_id) SELECT id, $1::uuid FROM wanted RETURNING id
     )
     INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at)
     SELECT $1::uuid, w.id, $2::uuid, 'run-' || lpad(w.i::text, 6, '0'), 'finished', jsonb_build_object('lr', w.i / 1000.0), '{}', '{}',
            now() - ($3::int - w.i) * interval '1 second', now() - ($3::int - w.i) * interval '1 second', now()
     FROM wanted w JOIN taken t ON t.id = w.id`,
    [orgId, projectId, runs],
  );
  await queryDatabase(stack as Stack, "ANALYZE runs.runs");
  return projectId;
}
