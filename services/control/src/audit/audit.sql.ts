import { sql, type Tx } from "@tidemark/pg";

/** An event of the audit log. Instants are RFC 3339 texts. */
export type AuditRow = {
  id: string;
  at: string;
  actor_type: "user" | "api_key" | "operator";
  actor_id: string;
  action: string;
  target_type: string;
  target_id: string;
  request_id: string;
  /** Of runs that were moved or copied together: how many, and where from. */
  runs: number | null;
  from_project_id: string | null;
};

const insertAuditSql = sql(
  "control_insert_audit",
  // Keys are known by the id in their text until here.
  `INSERT INTO control.audit_events (org_id, actor_type, actor_id, action, target_type, target_id, request_id)
   VALUES ($1, $2,
           CASE WHEN $2 = 'api_key'
                THEN coalesce((SELECT k.id::text FROM control.api_keys k WHERE k.org_id = $1 AND k.credential_id = $3), '')
                ELSE $3 END,
           $4, $5, $6, $7)`,
);

/** A new event. The id of an API key is the one in its text. */
export type NewAudit = Omit<AuditRow, "id" | "at" | "runs" | "from_project_id"> & { readonly org_id: string };

/** Adds an event to the log of an organization. */
export async function insertAudit(tx: Tx, event: NewAudit): Promise<void> {
  await tx.rows(insertAuditSql, [
    event.org_id,
    event.actor_type,
    event.actor_id,
    event.action,
    event.target_type,
    event.target_id,
    event.request_id,
  ]);
}

const listAuditSql = sql(
  "control_list_audit",
  `SELECT id, at, actor_type, actor_id, action, target_type, target_id, request_id, runs, from_project_id
   FROM control.audit_events WHERE org_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4`,
);

/** The place of an event in the log. */
export type AuditPosition = { readonly at: string; readonly id: string };

/** Returns events of an organization, newest first, after a position. */
export function listAuditRows(tx: Tx, orgId: string, { at, id }: AuditPosition, rowsMax: number): Promise<AuditRow[]> {
  return tx.rows(listAuditSql, [orgId, at, id, rowsMax]);
}
