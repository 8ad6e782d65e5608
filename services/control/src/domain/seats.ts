import { AppError } from "@tidemark/errors";
import type { Plans, PlanTier } from "@tidemark/plans";
import type { AccountType } from "./plans.ts";

/** Returns how many people an organization may have, pending invitations counted. */
export function seatLimit(plans: Plans, plan: PlanTier, account: AccountType): number {
  return account === "personal" ? 1 : plans[plan].included_seats;
}

/** Refuses a personal organization, which is for one person. @throws personal_workspace_invite_forbidden */
export function requireTeam({ account_type: accountType }: { readonly account_type: AccountType }): void {
  if (accountType !== "personal") return;
  throw new AppError(
    "personal_workspace_invite_forbidden",
    "nobody can be invited to a personal organization; create another organization",
  );
}

/** Returns the error that every seat of the plan is taken. */
export function seatLimitReached(limit: number): AppError {
  return new AppError("invite_seat_limit_reached", `the organization has no seat left (limit ${limit})`);
}
