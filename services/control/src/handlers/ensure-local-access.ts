import { equalHashes, parseCredential, type Scope } from "@tidemark/credentials";
import type { Tx } from "@tidemark/pg";
import { withSuffix } from "../domain/slugs.ts";
import { findCredential } from "../store/find-credential.ts";
import { findOrganization } from "../store/find-organization.ts";
import { insertMembership } from "../store/insert-membership.ts";
import { insertOrganization } from "../store/insert-organization.ts";
import type { OrganizationRow } from "../store/rows-organizations.ts";
import type { UserRow } from "../store/rows-users.ts";
import { upsertUser } from "../store/upsert-user.ts";
import { requireOperator } from "./caller.ts";
import { commitProjectionChange } from "./commit-projection-change.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { encodeOrganization, encodeUser } from "./encode-organization.ts";
import { issueKey } from "./issue-key.ts";

// Known beforehand, so that clients of an installation on one's own machine can count on it.
const localOrgId = "00000000-0000-0000-0000-000000000001";
const localEmail = "local@localhost";

const localScopes: readonly Scope[] = ["sdk:ingest", "export:read", "runs:control"];

/**
 * Makes what an installation on somebody's own machine begins with, as far as it is not there: the
 * organization `local`, its owner, and a key when the launcher's is missing or works no longer.
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
      const answer = { organization: encodeOrganization(organization), user: encodeUser(user) };
      if (await works(tx, knownKey, now)) return answer;
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

async function works(tx: Tx, text: string, now: Date): Promise<boolean> {
  const key = parseCredential(text);
  if (key === undefined || key.kind !== "api_key") return false;
  const found = await findCredential(tx, "api_key", key.id);
  return (
    found !== undefined &&
    equalHashes(found.hash, key.hash) &&
    found.org_id === localOrgId &&
    !found.revoked &&
    (found.expires_at === null || new Date(found.expires_at) > now)
  );
}
