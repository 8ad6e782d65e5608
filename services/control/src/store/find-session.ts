import { sql, type Tx } from "@tidemark/pg";
import type { SessionRow } from "../domain/records.ts";
import { sessionColumns } from "./columns.ts";

const statement = sql(
  "control_find_session",
  `SELECT ${sessionColumns} FROM control.sessions WHERE org_id = $1 AND credential_id = $2`,
);

/** A session by the id in its text. */
export function findSession(tx: Tx, orgId: string, credentialId: string): Promise<SessionRow | undefined> {
  return tx.one(statement, [orgId, credentialId]);
}
