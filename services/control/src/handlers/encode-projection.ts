import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CredentialKind,
  type CredentialEntrySchema,
  type OrganizationEntrySchema,
} from "@tidemark/proto/control/v1/control";
import { scopesOfRole } from "../domain/roles.ts";
import type { CredentialFacts, OrganizationFacts } from "../store/rows-projection.ts";

/** What gateways know of an organization, as a message. */
export function encodeOrganizationEntry(facts: OrganizationFacts): MessageInitShape<typeof OrganizationEntrySchema> {
  return {
    id: facts.org_id,
    slug: facts.slug,
    name: facts.name,
    planTier: facts.plan_tier,
    billingState: facts.billing_state,
    deleted: facts.deleted,
  };
}

/** What gateways know of a credential, as a message. A session's scopes are those of its role. */
export function encodeCredentialEntry(facts: CredentialFacts): MessageInitShape<typeof CredentialEntrySchema> {
  const session = facts.kind === "session";
  return {
    kind: session ? CredentialKind.SESSION : CredentialKind.API_KEY,
    id: facts.id,
    hash: facts.hash,
    orgId: facts.org_id,
    scopes: facts.role === null ? facts.scopes : [...scopesOfRole(facts.role)],
    projectId: facts.project_id ?? "",
    userId: facts.user_id ?? "",
    role: facts.role ?? "",
    expiresAt: facts.expires_at ?? "",
    revoked: facts.revoked,
  };
}
