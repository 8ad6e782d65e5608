import { AppError, badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { isReservedProjectName, planOf, RESERVED_PROJECT_NAME, type Plan, type Plans } from "@tidemark/limits";
import { refuseUnpaid, type Caller } from "@tidemark/requests";
import { isNearPlan, refuseBeyondPlan } from "./plan-limits.rules.ts";
import {
  findProject,
  findProjectByName,
  insertProject,
  lockPlan,
  readPlanUsage,
  type ProjectRow,
} from "./projects.sql.ts";

/** The project of runs whose client names no project. */
export const DEFAULT_PROJECT = "default";

/**
 * Returns the name of the project for a new run: the one that the client names, else the one of a
 * project-scoped key, else `default`.
 * @throws forbidden when a project-scoped key names another project, not_found when its project is deleted
 */
export async function chooseProjectName(tx: Tx, caller: Caller, explicit: string | undefined): Promise<string> {
  if (caller.projectId === undefined) return explicit ?? DEFAULT_PROJECT;
  const own = await findProject(tx, caller.orgId, caller.projectId);
  // It was deleted; a project that has its name now is a different one.
  if (own === undefined) throw notFound("project");
  if (explicit !== undefined && explicit !== own.name) {
    throw new AppError("forbidden", "a project-scoped key can use its own project only", { field: "project" });
  }
  return own.name;
}

/** Refuses a name that no project may have. @throws bad_request */
export function requireProjectName(name: string, field: "name" | "project"): void {
  if (isReservedProjectName(name)) throw badRequest(RESERVED_PROJECT_NAME, field);
}

/** A request for the project of this name, created if it is missing, and perhaps for new runs in it. */
type ProjectWish = {
  readonly name: string;
  readonly description: string | undefined;
  /** The id that a new project gets. */
  readonly newId: string;
  /** RFC 3339; undefined: now. */
  readonly createdAt?: string | undefined;
  /** Canonical JSON; undefined: `{}`. */
  readonly metadata?: string | undefined;
  /** How many runs are created in it. */
  readonly runs: number;
};

/**
 * Returns the project of a name, created if it is missing. Account state and plan are checked only
 * for new projects and runs: an existing project without a new run passes unchecked.
 * @throws bad_request for a reserved name, payment_required, plan_limit_exceeded
 */
export async function resolveProject(
  tx: Tx,
  caller: Caller,
  plans: Plans | undefined,
  wish: ProjectWish,
): Promise<ProjectRow> {
  let found = await findProjectByName(tx, caller.orgId, wish.name);
  if (found !== undefined && wish.runs === 0) return found;
  if (found === undefined) requireProjectName(wish.name, "project");
  refuseUnpaid(caller);
  if (plans !== undefined) found = await holdToPlan(tx, caller, planOf(plans, caller.planTier), wish, found);
  if (found !== undefined) return found;
  const created = await insertProject(tx, caller.orgId, {
    id: wish.newId,
    name: wish.name,
    description: wish.description,
    createdAt: wish.createdAt,
    metadata: wish.metadata,
  });
  const project = created ?? (await findProjectByName(tx, caller.orgId, wish.name));
  if (project === undefined) throw new Error("a project that exists by name cannot be seen");
  return project;
}

async function holdToPlan(
  tx: Tx,
  caller: Caller,
  limits: Plan,
  wish: ProjectWish,
  found: ProjectRow | undefined,
): Promise<ProjectRow | undefined> {
  const wanted = (project: ProjectRow | undefined) => ({ project: project === undefined, runs: wish.runs });
  const usage = await readPlanUsage(tx, caller.orgId);
  if (!isNearPlan(usage, limits, wanted(found))) return found;
  // The transaction that held the lock before may have created this very project.
  await lockPlan(tx, caller.orgId);
  const project = found ?? (await findProjectByName(tx, caller.orgId, wish.name));
  refuseBeyondPlan(await readPlanUsage(tx, caller.orgId), limits, wanted(project));
  return project;
}
