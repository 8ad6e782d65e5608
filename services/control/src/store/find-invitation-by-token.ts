import { sql, type Tx } from "@tidemark/pg";

const findInvitationByTokenSql = sql(
  "control_find_invitation_by_token",
  "SELECT org_id, id, hash FROM control.find_invitation($1)",
);

/** Which invitation a token belongs to, by the id in its text. */
export function findInvitationByToken(
  tx: Tx,
  credentialId: string,
): Promise<{ org_id: string; id: string; hash: Uint8Array } | undefined> {
  return tx.one(findInvitationByTokenSql, [credentialId]);
}
