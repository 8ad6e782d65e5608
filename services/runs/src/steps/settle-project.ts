import type { Tx } from "@tidemark/pg";
import { planOf, type Plan, type Plans } from "@tidemark/plans";
import type { Caller } from "@tidemark/requests";
import { isNearPlan, refuseBeyondPlan, refuseUnpaid } from "../domain/plan-limits.ts";
import { findProjectByName } from "../store/find-project-by-name.ts";
import { insertProject } from "../store/insert-project.ts";
import { lockPlan } from "../store/lock-plan.ts";
import type { ProjectRow } from "../store/project-row.ts";
import { readPlanUsage } from "../store/read-plan-usage.ts";

/** What is wanted: the project of this name, made if it is missing, and perhaps a new run in it. */
export type ProjectWish = {
  readonly name: string;
  readonly description: string | undefined;
  /** The id that a new project gets. */
  readonly newId: string;
  readonly run: boolean;
};

/**
 * Finds a project by its name or makes it, and holds what is new to account state and plan. A
 * project that exists costs nothing, so without a run in it nothing is checked.
 * @throws payment_required, plan_limit_exceeded
 */
export async function settleProject(
  tx: Tx,
  caller: Caller,
  plans: Plans | undefined,
  wish: ProjectWish,
): Promise<ProjectRow> {
  let found = await findProjectByName(tx, caller.orgId, wish.name);
  if (found !== undefined && !wish.run) return found;
  refuseUnpaid(caller.billingState);
  if (plans !== undefined) found = await holdToPlan(tx, caller, planOf(plans, caller.planTier), wish, found);
  if (found !== undefined) return found;
  const made = await insertProject(tx, caller.orgId, {
    id: wish.newId,
    name: wish.name,
    description: wish.description,
  });
  const project = made ?? (await findProjectByName(tx, caller.orgId, wish.name));
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
  const wanted = (project: ProjectRow | undefined) => ({ project: project === undefined, run: wish.run });
  const usage = await readPlanUsage(tx, caller.orgId);
  if (!isNearPlan(usage, limits, wanted(found))) return found;
  // The one before us may have made the very project that we are about to count as new.
  await lockPlan(tx, caller.orgId);
  const project = found ?? (await findProjectByName(tx, caller.orgId, wish.name));
  refuseBeyondPlan(await readPlanUsage(tx, caller.orgId), limits, wanted(project));
  return project;
}
