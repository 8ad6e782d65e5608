import type { Role } from "../domain/roles.ts";

/** What gateways know of an organization. */
export type OrganizationFacts = {
  org_id: string;
  slug: string;
  name: string;
  plan_tier: string;
  billing_state: string;
  deleted: boolean;
};

/** What gateways know of a credential. */
export type CredentialFacts = {
  kind: "api_key" | "session";
  /** The id in its text. */
  id: string;
  org_id: string;
  hash: Uint8Array;
  /** Empty for sessions, whose scopes follow from the role. */
  scopes: string[];
  project_id: string | null;
  user_id: string | null;
  role: Role | null;
  expires_at: string | null;
  revoked: boolean;
};
