import { sql, type Tx } from "@tidemark/pg";
import type { ProjectName } from "../search/tree.rules.ts";
import type { PlanUsage } from "./plan-limits.rules.ts";

/** A project as the statements return it; the instant is an RFC 3339 text. */
export type ProjectRow = {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly number: number;
  /** Canonical JSON. */
  readonly metadata: string;
  readonly updated_at: string;
  readonly created_at: string;
  readonly deleted_at: string | null;
  readonly purge_after: string | null;
};

/** Select list of a `ProjectRow`. */
export const projectColumns =
  "id, org_id, name, description, number, metadata, created_at, updated_at, deleted_at, purge_after";

const findProjectSql = sql(
  "runs_find_project",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND id = $2`,
);

/** Returns the project with this id, if it is in the organization. */
export function findProject(tx: Tx, orgId: string, projectId: string): Promise<ProjectRow | undefined> {
  return tx.one(findProjectSql, [orgId, projectId]);
}

const findProjectByNumberSql = sql(
  "runs_find_project_by_number",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND number = $2`,
);

/** Returns the organization's project of this number, a whole number below 2^53. */
export function findProjectByNumber(tx: Tx, orgId: string, number: bigint): Promise<ProjectRow | undefined> {
  return tx.one(findProjectByNumberSql, [orgId, number]);
}

const findProjectByNameSql = sql(
  "runs_find_project_by_name",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 AND name = $2`,
);

/** Returns the organization's project of this name. */
export function findProjectByName(tx: Tx, orgId: string, name: string): Promise<ProjectRow | undefined> {
  return tx.one(findProjectByNameSql, [orgId, name]);
}

const insertProjectSql = sql(
  "runs_insert_project",
  `INSERT INTO runs.projects (org_id, id, name, description, created_at, metadata)
   VALUES ($1, $2, $3, $4, coalesce($5::timestamptz, clock_timestamp()), $6)
   ON CONFLICT (org_id, name, deleted_at) DO NOTHING
   RETURNING ${projectColumns}`,
);

/** Stores and returns a project; undefined when the name exists, also if a concurrent transaction has just stored it. */
export function insertProject(
  tx: Tx,
  orgId: string,
  project: {
    readonly id: string;
    readonly name: string;
    readonly description: string | undefined;
    /** RFC 3339; undefined: now. */
    readonly createdAt?: string | undefined;
    /** Canonical JSON; undefined: `{}`. */
    readonly metadata?: string | undefined;
  },
): Promise<ProjectRow | undefined> {
  return tx.one(insertProjectSql, [
    orgId,
    project.id,
    project.name,
    project.description ?? null,
    project.createdAt ?? null,
    project.metadata ?? "{}",
  ]);
}

const listProjectsSql = sql(
  "runs_list_projects",
  `SELECT ${projectColumns} FROM runs.projects WHERE org_id = $1 ORDER BY name LIMIT $2::bigint OFFSET $3::bigint`,
);

/** Which projects of a list to read. */
export type ProjectPage = { readonly limit: number; readonly offset: bigint };

/** Returns a page of the organization's projects by name. */
export function listProjectRows(tx: Tx, orgId: string, { limit, offset }: ProjectPage): Promise<ProjectRow[]> {
  return tx.rows(listProjectsSql, [orgId, limit, offset]);
}

const listProjectsByIdSql = sql(
  "runs_list_projects_by_id",
  `SELECT p.* FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (SELECT ${projectColumns} FROM runs.projects o WHERE o.org_id = $1 AND o.id = asked.id OFFSET 0) p
   ORDER BY asked.ordinal`,
);

/** Returns projects of the organization in the order of `ids`. */
export function listProjectsById(tx: Tx, orgId: string, ids: readonly string[]): Promise<ProjectRow[]> {
  return tx.rows(listProjectsByIdSql, [orgId, ids]);
}

const countProjectsSql = sql("runs_count_projects", "SELECT count(*) AS total FROM runs.projects WHERE org_id = $1");

/** Returns the number of projects on all pages of `listProjectRows`. */
export async function countProjects(tx: Tx, orgId: string): Promise<number> {
  const row = await tx.one<{ total: number }>(countProjectsSql, [orgId]);
  return row?.total ?? 0;
}

const changeProjectSql = sql(
  "runs_change_project",
  `UPDATE runs.projects SET texts_behind = texts_behind OR name <> coalesce($3, name), name = coalesce($3, name),
     description = CASE WHEN $4 = '' THEN NULL ELSE coalesce($4, description) END, metadata = coalesce($5, metadata),
     updated_at = clock_timestamp()
   WHERE org_id = $1 AND id = $2 RETURNING ${projectColumns}`,
);

/** Changes and returns a project; undefined leaves a field, and an empty description removes it. The searched texts of its runs keep its earlier name. Fails on the unique name. */
export async function changeProject(
  tx: Tx,
  orgId: string,
  projectId: string,
  changes: {
    readonly name: string | undefined;
    readonly description: string | undefined;
    /** Canonical JSON. */
    readonly metadata: string | undefined;
  },
): Promise<ProjectRow> {
  const { name = null, description = null, metadata = null } = changes;
  const values = [orgId, projectId, name, description, metadata];
  return (await tx.one<ProjectRow>(changeProjectSql, values))!;
}

const listProjectNamesSql = sql(
  "runs_list_project_names",
  "SELECT id, lower(name) AS name FROM runs.projects WHERE org_id = $1 AND ($2::uuid IS NULL OR id = $2)",
);

/** Returns the ids and names of all projects, or of `projectId` only. The names' ASCII letters are lower case; collation C lowers no others. */
export function listProjectNames(tx: Tx, orgId: string, projectId: string | undefined): Promise<ProjectName[]> {
  return tx.rows(listProjectNamesSql, [orgId, projectId ?? null]);
}

const readPlanUsageSql = sql(
  "runs_read_plan_usage",
  `SELECT u.projects, u.runs + (SELECT count(*) FROM runs.run_copies c WHERE c.org_id = $1) AS runs
   FROM runs.usage_v1 u WHERE u.org_id = $1`,
);

/**
 * Returns the organization's projects and runs, deleted rows and copies that are being made included, from its projects' counters: at most a few
 * hundred rows where limits are enforced.
 */
export async function readPlanUsage(tx: Tx, orgId: string): Promise<PlanUsage> {
  return (await tx.one<PlanUsage>(readPlanUsageSql, [orgId])) ?? { projects: 0, runs: 0 };
}

const lockPlanSql = sql("runs_lock_plan", "SELECT pg_advisory_xact_lock(hashtextextended('runs.plan ' || $1, 0))");

/** Locks the organization's plan until the transaction ends, so that one transaction at a time counts projects and runs and adds to them. */
export async function lockPlan(tx: Tx, orgId: string): Promise<void> {
  await tx.rows(lockPlanSql, [orgId]);
}
