import { sql, type Tx } from "@tidemark/pg";
import type { CredentialFacts, OrganizationFacts } from "./rows-projection.ts";

const findCredentialSql = sql(
  "control_find_credential",
  `SELECT kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked,
          slug, name, plan_tier, billing_state, deleted
   FROM control.find_credential($1, $2)`,
);

/** What gateways know of a credential, and of its organization, by the id in the credential's text. */
export function findCredential(
  tx: Tx,
  kind: CredentialFacts["kind"],
  id: string,
): Promise<(CredentialFacts & OrganizationFacts) | undefined> {
  return tx.one(findCredentialSql, [kind, id]);
}
