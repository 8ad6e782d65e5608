import { AppError } from "@tidemark/errors";
import type { Plan } from "@tidemark/limits";

/** Numbers of projects and runs: those of an organization, or the limits of its plan. */
export type PlanUsage = Pick<Plan, "projects" | "runs">;

/** The projects and runs that a request would add. */
type PlanWish = { readonly project: boolean; readonly runs: number };

/** Refuses a request that would exceed the plan. @throws plan_limit_exceeded */
export function refuseBeyondPlan(usage: PlanUsage, limits: PlanUsage, wanted: PlanWish): void {
  if (wanted.project && usage.projects >= limits.projects) throw beyond("projects", limits.projects);
  if (wanted.runs > 0 && usage.runs + wanted.runs > limits.runs) throw beyond("runs", limits.runs);
}

// An organization does not have more creates than this in flight.
const MARGIN = 200;

/**
 * Returns whether creates of this organization must queue to be counted exactly. Far from the limits
 * they need not, and a lock would make all creates of the organization wait for each other.
 */
export function isNearPlan(usage: PlanUsage, limits: PlanUsage, wanted: PlanWish): boolean {
  return (
    (wanted.project && usage.projects + MARGIN >= limits.projects) ||
    (wanted.runs > 0 && usage.runs + wanted.runs - 1 + MARGIN >= limits.runs)
  );
}

// Groups of all processes together do not have more creates than this in flight.
const GROUPS_MARGIN = 2000;

/** Returns how many runs an organization may have for its creates to be stored in groups, which are not counted one by one. */
export function runsMaxOfGroups(limits: PlanUsage): number {
  return limits.runs - GROUPS_MARGIN;
}

function beyond(what: string, limit: number): AppError {
  return new AppError("plan_limit_exceeded", `the organization's plan allows ${limit} ${what}`);
}
