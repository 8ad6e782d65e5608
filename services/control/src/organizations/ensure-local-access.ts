import type { Scope } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import type { ControlDeps, ControlHandlers } from "../deps.ts";
import { issueKey } from "../keys/issue-key.ts";
import { commitProjectionChange, findLiveCredential } from "../projection/lock-caller.ts";
import { issueOneTimeToken } from "../sessions/sign-in.ts";
import { requireOperator } from "./users.ts";
import { encodeOrganization, encodeUser } from "./encode-organization.ts";
import { insertMembership } from "./memberships.sql.ts";
import { withSuffix } from "./people.rules.ts";
import { findOrganization, insertOrganization, type OrganizationRow } from "./organizations.sql.ts";
import { upsertUser, type UserRow } from "./users.sql.ts";

// A fixed id, so that clients of a local installation can rely on it.
const localOrgId = "00000000-0000-0000-0000-000000000001";
const localEmail = "local@localhost";

const localScopes: readonly Scope[] = ["sdk:ingest", "export:read", "runs:control"];

/**
 * Creates the initial rows of a local installation, as far as they are missing: the organization `local`,
 * its owner, and a key when the launcher's key is missing or no longer works; and a token with which the owner signs in once. For operators.
 * @throws unauthenticated
 */
export function ensureLocalAccess(deps: ControlDeps): ControlHandlers["ensureLocalAccess"] {
  return async ({ knownKey }, call) => {
    requireOperator(call);
    return commitProjectionChange(deps, localOrgId, async (tx) => {
      const now = deps.now();
      const user = await upsertUser(tx, {
        id: deps.newId(),
        email: localEmail,
        displayName: "Local",
        avatarUrl: "",
        now,
      });
      const organization = await ensureOrganization(tx, deps, user);
      const answer = {
        organization: encodeOrganization(organization),
        user: encodeUser(user),
        oneTimeToken: await issueOneTimeToken(tx, deps, { orgId: localOrgId, userId: user.id }),
      };
      const known = await findLiveCredential(tx, "api_key", knownKey, now);
      if (known?.org_id === localOrgId) return answer;
      const newKey = await issueKey(tx, deps, {
        orgId: localOrgId,
        name: "local",
        scopes: localScopes,
        createdByUserId: user.id,
      });
      return { ...answer, newKey };
    });
  };
}

async function ensureOrganization(tx: Tx, { newId, now }: ControlDeps, owner: UserRow): Promise<OrganizationRow> {
  const facts = {
    orgId: localOrgId,
    name: "Local",
    planTier: "premium",
    billingState: "paid_active",
    accountType: "business",
    seatLimit: 10,
    createdByUserId: owner.id,
    now: now(),
  } as const;
  const organization =
    (await findOrganization(tx, localOrgId)) ??
    (await insertOrganization(tx, { ...facts, slug: "local" })) ??
    (await insertOrganization(tx, { ...facts, slug: withSuffix("local", owner.id) }));
  if (organization === undefined) throw new Error("the local organization could not be made");
  const membership = { orgId: localOrgId, id: newId(), userId: owner.id, role: "owner", status: "active" } as const;
  await insertMembership(tx, { ...membership, now: now() });
  return organization;
}
