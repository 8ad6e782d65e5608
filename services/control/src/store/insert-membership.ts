import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../domain/roles.ts";
import { membershipColumns, type MembershipRow } from "./rows-memberships.ts";

const insertMembershipSql = sql(
  "control_insert_membership",
  `INSERT INTO control.memberships (org_id, id, user_id, role, status, created_at)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (org_id, user_id) DO NOTHING
   RETURNING ${membershipColumns}`,
);

/** Takes a user in; `undefined` when they are in already. */
export function insertMembership(
  tx: Tx,
  member: { orgId: string; id: string; userId: string; role: Role; status: "active" | "invited"; now: Date },
): Promise<MembershipRow | undefined> {
  const { orgId, id, userId, role, status, now } = member;
  return tx.one(insertMembershipSql, [orgId, id, userId, role, status, now.toISOString()]);
}
