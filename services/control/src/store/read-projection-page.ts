import { sql, type Tx } from "@tidemark/pg";
import type { Place } from "../domain/projection-cursor.ts";
import type { CredentialFacts, OrganizationFacts } from "./rows-projection.ts";

const readProjectionPageSql = sql(
  "control_read_projection_page",
  `SELECT floor, ceiling, changed_xid, kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked,
          slug, name, plan_tier, billing_state, deleted
   FROM control.projection_page($1, $2, $3, $4, $5)`,
);

type Bounds = { floor: string; ceiling: string; changed_xid: string | null };

/** A changed row: an organization, or a credential, with its place in the order of changes. */
export type ChangedRow = { place: Place } & (
  | ({ kind: "organization" } & OrganizationFacts)
  | ({ kind: "api_key" | "session" } & CredentialFacts)
);

/** Rows changed at `after` or later, and the transactions between which the server was when it read them. */
export type ProjectionPage = { floor: bigint; ceiling: bigint; rows: ChangedRow[] };

/** Reads at most `limit` rows; see the function's comment for the order and for what `floor` promises. */
export async function readProjectionPage(
  tx: Tx,
  page: { after: Place; liveOnly: boolean; limit: number },
): Promise<ProjectionPage> {
  const { after, liveOnly, limit } = page;
  const found = await tx.rows<Bounds & ChangedRow & { id: string }>(readProjectionPageSql, [
    after.xid.toString(),
    after.kind,
    after.id,
    liveOnly,
    limit,
  ]);
  const [first] = found;
  return {
    floor: BigInt(first!.floor),
    ceiling: BigInt(first!.ceiling),
    rows: found.flatMap((row) =>
      row.changed_xid === null ? [] : [{ ...row, place: { xid: BigInt(row.changed_xid), kind: row.kind, id: row.id } }],
    ),
  };
}
