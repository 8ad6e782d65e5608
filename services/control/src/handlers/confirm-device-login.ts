import { AppError, notFound } from "@tidemark/errors";
import { requirePaid } from "../domain/billing.ts";
import { hashUserCode, judgeApproval } from "../domain/device-logins.ts";
import { approveDeviceLogin } from "../store/approve-device-login.ts";
import { findOrganization } from "../store/find-organization.ts";
import { lockDeviceLoginByUserCode } from "../store/lock-device-login-by-user-code.ts";
import { requirePeopleManager, requireSession } from "./caller.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";

/**
 * A signed-in owner or admin lets a device act for their organization.
 * @throws unauthenticated; forbidden; not_found for a code that is unknown or ran out; conflict for one that was used; payment_required
 */
export function confirmDeviceLogin({ db, now }: ControlDeps): ControlHandlers["confirmDeviceLogin"] {
  return async ({ userCode }, call) => {
    const { orgId, userId } = requireSession(call);
    requirePeopleManager(call);
    await db.withTenant(orgId, async (tx) => {
      const login = await lockDeviceLoginByUserCode(tx, hashUserCode(userCode));
      const state = login && { status: login.status, expiresAt: new Date(login.expires_at), lastPolledAt: undefined };
      const outcome = judgeApproval(state, now());
      if (login === undefined || outcome === "unknown") throw notFound("user code");
      if (outcome === "used") throw new AppError("conflict", "this user code was used already");
      const organization = await findOrganization(tx, orgId);
      if (organization === undefined) throw notFound("organization");
      requirePaid(organization.billing_state, "create API keys");
      await approveDeviceLogin(tx, { credentialId: login.credential_id, orgId, userId });
    });
    return {};
  };
}
