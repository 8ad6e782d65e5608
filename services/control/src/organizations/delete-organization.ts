import { AppError, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { pathId } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import { recordAudit } from "../audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { commitProjectionChange, lockCaller } from "../projection/lock-caller.ts";
import { isOperator, requirePeopleManager, requireSession, visibleOrganization } from "./users.ts";
import { encodeOrganization } from "./encode-organization.ts";
import { lockMembership } from "./memberships.sql.ts";
import {
  enterOrganization,
  lockDeletableOrganization,
  markOrganizationDeleted,
  unmarkOrganizationDeleted,
} from "./organizations.sql.ts";
import { isAdmin } from "./people.rules.ts";

/**
 * Deletes an organization: its keys end, its sessions can only restore it or switch organizations, and everything is removed after the days of grace. A
 * repeated call answers the same. A dry run changes nothing and returns no organization. For operators, and owners and admins who are signed in.
 * @throws not_found, in a dry run also for a deleted one; forbidden; unauthenticated
 */
export function deleteOrganization(deps: ControlDeps): ControlHandlers["deleteOrganization"] {
  return async (request, call) => {
    const orgId = visibleOrganization(call, request.orgId);
    const row = await commitProjectionChange(deps, orgId, async (tx) => {
      requirePeopleManager(await lockCaller(tx, call, deps.now()));
      const organization = await lockDeletableOrganization(tx, orgId, deps.now());
      if (organization === undefined || (request.dryRun && organization.deleted_at !== null))
        throw notFound("organization");
      if (request.dryRun) return undefined;
      if (organization.deleted_at !== null) return organization;
      await recordAudit(tx, call, {
        orgId,
        action: "organization.deleted",
        target: { type: "organization", id: orgId },
      });
      return markOrganizationDeleted(tx, orgId, { now: deps.now(), graceDays: deps.settings.graceDays });
    });
    return row === undefined ? {} : { organization: encodeOrganization(row) };
  };
}

/**
 * Restores a deleted organization as it was; one that is not deleted is returned unchanged. For operators, and its owners and admins, wherever they are
 * signed in.
 * @throws not_found when it does not exist, its time is over or the caller is not a member; forbidden; unauthenticated
 */
export function undeleteOrganization(deps: ControlDeps): ControlHandlers["undeleteOrganization"] {
  return async (request, call) => {
    const orgId = pathId(request.orgId, "organization");
    const row = await commitProjectionChange(deps, orgId, async (tx) => {
      await requireRestorer(tx, deps, call, orgId);
      const organization = await lockDeletableOrganization(tx, orgId, deps.now());
      if (organization === undefined) throw notFound("organization");
      if (organization.deleted_at === null) return organization;
      await recordAudit(tx, call, {
        orgId,
        action: "organization.restored",
        target: { type: "organization", id: orgId },
      });
      return unmarkOrganizationDeleted(tx, orgId);
    });
    return { organization: encodeOrganization(row) };
  };
}

/** The transaction is in the organization before and afterwards. @throws unauthenticated, not_found, forbidden */
async function requireRestorer(tx: Tx, { now }: ControlDeps, call: Call, orgId: string): Promise<void> {
  if (isOperator(call)) return;
  const caller = requireSession(call);
  await enterOrganization(tx, caller.orgId);
  await lockCaller(tx, call, now());
  await enterOrganization(tx, orgId);
  const membership = await lockMembership(tx, orgId, caller.userId);
  if (membership?.status !== "active") throw notFound("organization");
  if (!isAdmin(membership.role)) throw new AppError("forbidden", "an owner or admin of the organization is needed");
}
