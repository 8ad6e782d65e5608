import { randomUUID } from "node:crypto";
import type pg from "pg";

const BATCH = 5000;

/** Inserts `count` running runs into a new project of an organization, past the services, and returns their ids. */
export async function seedRunningRuns(client: pg.Client, orgId: string, count: number): Promise<string[]> {
  const projectId = randomUUID();
  const ids = Array.from({ length: count }, () => randomUUID());
  const project = "INSERT INTO runs.projects (org_id, id, name, runs_running) VALUES ($1, $2, $3, $4)";
  await client.query(project, [orgId, projectId, `seeded ${projectId}`, count]);
  const config = JSON.stringify({ lr: 0.001, layers: Array.from({ length: 100 }, (_, i) => i) });
  for (let first = 0; first < count; first += BATCH) {
    await client.query(
      `WITH taken AS (
         INSERT INTO runs.run_ids (id, org_id) SELECT u.id, $1 FROM unnest($3::uuid[]) AS u (id) RETURNING id
       )
       INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
       SELECT $1, id, $2, 'seeded', 'running', $4, '{}', '{}', now(), now() FROM taken`,
      [orgId, projectId, ids.slice(first, first + BATCH), config],
    );
  }
  await client.query("ANALYZE runs.runs");
  return ids;
}
