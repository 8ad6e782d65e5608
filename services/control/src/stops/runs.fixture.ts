import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Tx } from "@tidemark/pg";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createCall, type Call } from "@tidemark/rpc";
import type { Control } from "../control.fixture.ts";

const insertProject = testSql("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, $3)");
const insertRuns =
  testSql(`INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at)
   SELECT $1, u.id, $2, 'run', $4, '{}', '{}', '{}', now(), now(), CASE WHEN $4 <> 'running' THEN now() END
   FROM unnest($3::uuid[]) AS u (id)`);
const countRun = testSql("UPDATE runs.projects SET runs_running = runs_running + $3 WHERE org_id = $1 AND id = $2");

/** Inserts a project of the organization with `count` runs, without the service that owns them. */
export async function newRuns(
  control: Control,
  orgId: string,
  count: number,
  status = "running",
): Promise<{ projectId: string; ids: string[] }> {
  const projectId = randomUUID();
  const ids = Array.from({ length: count }, () => randomUUID());
  await control.ownerDb.rows(insertProject, [orgId, projectId, `project ${projectId}`]);
  await control.ownerDb.rows(insertRuns, [orgId, projectId, ids, status]);
  if (status === "running") await control.ownerDb.rows(countRun, [orgId, projectId, count]);
  return { projectId, ids };
}

/** Inserts a running run. */
export async function newRun(control: Control, orgId: string): Promise<{ projectId: string; id: string }> {
  const { projectId, ids } = await newRuns(control, orgId, 1);
  return { projectId, id: ids[0]! };
}

/** Returns a call by a key of the organization, or by the caller of the identity. */
export function callBy(orgId: string, identity: MessageInitShape<typeof IdentitySchema> = {}): Call {
  const full = create(IdentitySchema, { kind: CallerKind.API_KEY, planTier: "pro", ...identity, orgId });
  return createCall({ identity: full, timeoutMs: 600_000 });
}

const setStatus = testSql("UPDATE runs.runs SET status = $2, finished_at = coalesce(finished_at, now()) WHERE id = $1");

/** Changes a run's status, without the service that owns it. */
export async function patch(tx: Tx, runId: string, status: string): Promise<void> {
  await tx.rows(setStatus, [runId, status]);
}
