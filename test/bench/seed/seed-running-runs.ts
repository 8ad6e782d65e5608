import { randomUUID } from "node:crypto";
import type pg from "pg";

const BATCH = 5000;

const config = JSON.stringify({ lr: 0.001, layers: Array.from({ length: 100 }, (_, i) => i) });

/** Inserts `count` running runs into a new project of an organization, past the services, and returns their ids. */
export async function seedRunningRuns(client: pg.Client, orgId: string, count: number): Promise<string[]> {
  const projectId = randomUUID();
  const ids = Array.from({ length: count }, () => randomUUID());
  const project = "INSERT INTO runs.projects (org_id, id, name, runs_running) VALUES ($1, $2, $3, $4)";
  await client.query(project, [orgId, projectId, `seeded ${projectId}`, count]);
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

/** How many runs organizations have: a large one, and each of many small ones. */
export type RunSkew = {
  readonly small: number;
  readonly running: { readonly large: number; readonly eachSmall: number };
  readonly ended: { readonly large: number; readonly eachSmall: number };
};

/** Which organization each run belongs to, in an order as when all of them work simultaneously. */
function shuffledRuns(orgIds: readonly string[], { running, ended }: RunSkew): { orgId: string; status: string }[] {
  const runs = orgIds.flatMap((orgId, n) => {
    const which = n === 0 ? "large" : "eachSmall";
    const some = (count: number, status: string) => Array.from({ length: count }, () => ({ orgId, status }));
    return [...some(running[which], "running"), ...some(ended[which], "finished")];
  });
  for (let i = runs.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [runs[i], runs[j]] = [runs[j]!, runs[i]!];
  }
  return runs;
}

/**
 * Inserts runs of organizations of very different sizes, past the services, and leaves the tables as they are then: never
 * analyzed, unless autovacuum comes by. `lastId` is the id of one more running run of the large organization.
 */
export async function seedSkewedRuns(
  client: pg.Client,
  options: { readonly largeOrgId: string; readonly lastId: string; readonly skew: RunSkew },
): Promise<void> {
  const { largeOrgId, lastId, skew } = options;
  const orgIds = [largeOrgId, ...Array.from({ length: skew.small }, () => randomUUID())];
  const projects = new Map(orgIds.map((orgId) => [orgId, randomUUID()]));
  await client.query(
    `INSERT INTO runs.projects (org_id, id, name, runs_running, runs_finished)
     SELECT u.org, u.id, 'seeded', CASE WHEN u.org = $3 THEN $4::int + 1 ELSE $5::int END,
            CASE WHEN u.org = $3 THEN $6::int ELSE $7::int END
     FROM unnest($1::uuid[], $2::uuid[]) AS u (org, id)`,
    [
      orgIds,
      [...projects.values()],
      largeOrgId,
      skew.running.large,
      skew.running.eachSmall,
      skew.ended.large,
      skew.ended.eachSmall,
    ],
  );
  const insert = async (runs: readonly { orgId: string; status: string; id?: string }[]): Promise<void> => {
    await client.query(
      `WITH wanted AS MATERIALIZED (
         SELECT u.org, u.project, coalesce(u.id, gen_random_uuid()) AS id, u.status
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) AS u (org, project, id, status)
       ), taken AS (
         INSERT INTO runs.run_ids (id, org_id) SELECT id, org FROM wanted
       )
       INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at)
       SELECT org, id, project, 'seeded', status, $5, '{}', '{}', now(), now(), CASE WHEN status <> 'running' THEN now() END
       FROM wanted`,
      [
        runs.map(({ orgId }) => orgId),
        runs.map(({ orgId }) => projects.get(orgId)),
        runs.map(({ id }) => id ?? null),
        runs.map(({ status }) => status),
        config,
      ],
    );
  };
  const runs = shuffledRuns(orgIds, skew);
  for (let first = 0; first < runs.length; first += BATCH) await insert(runs.slice(first, first + BATCH));
  await insert([{ orgId: largeOrgId, status: "running", id: lastId }]);
}
