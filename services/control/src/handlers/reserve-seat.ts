import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { OrganizationRow } from "../domain/records.ts";
import { countSeats } from "../store/count-seats.ts";
import type { ControlDeps } from "./deps.ts";

/** 400: a personal organization is for one person. */
export function requireTeam({ account_type }: Pick<OrganizationRow, "account_type">): void {
  if (account_type !== "personal") return;
  throw new AppError(
    "personal_workspace_invite_forbidden",
    "nobody can be invited to a personal organization; create another organization",
  );
}

/**
 * Makes sure that no more seats are taken than there are, the caller's new one counted. The organization's
 * row is locked, so that two callers do not both take the last.
 * @throws invite_seat_limit_reached
 */
export async function requireSeats(
  tx: Tx,
  { now, settings }: ControlDeps,
  organization: OrganizationRow,
): Promise<void> {
  if (!settings.seatLimits) return;
  const taken = await countSeats(tx, organization.org_id, now());
  if (taken > organization.seat_limit) throw seatLimitReached(organization.seat_limit);
}

/** 409: everybody that the plan includes is there. */
export function seatLimitReached(limit: number): AppError {
  return new AppError("invite_seat_limit_reached", `the organization has no seat left (limit ${limit})`);
}
