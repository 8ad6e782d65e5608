import type { Tx } from "@tidemark/pg";
import { seatLimitReached } from "../domain/seats.ts";
import { countSeats } from "../store/count-seats.ts";
import type { OrganizationRow } from "../store/rows-organizations.ts";
import type { ControlDeps } from "./deps.ts";

/**
 * Checks that no more seats are taken than there are, the caller's new one counted. The caller has locked the
 * organization's row, so that two requests do not both take the last seat.
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
