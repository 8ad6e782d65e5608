import { sql, type Tx } from "@tidemark/pg";
import type { Role } from "../organizations/people.rules.ts";
import type { ChangePosition } from "./projection-cursor.rules.ts";

/** The facts that gateways know of an organization. */
export type OrganizationFacts = {
  org_id: string;
  slug: string;
  name: string;
  plan_tier: string;
  billing_state: string;
  deleted: boolean;
};

/** The facts that gateways know of a credential. */
export type CredentialFacts = {
  kind: "api_key" | "session";
  /** The id in its text. */
  id: string;
  org_id: string;
  hash: Uint8Array;
  /** Empty for sessions of members, whose scopes follow from the role. */
  scopes: string[];
  project_id: string | null;
  user_id: string | null;
  role: Role | null;
  expires_at: string | null;
  revoked: boolean;
  /** Of a session that was made from a key: the key, by the id in its text. */
  key_id: string | null;
};

const readProjectionPageSql = sql(
  "control_read_projection_page",
  `SELECT floor, ceiling, changed_xid, kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked,
          slug, name, plan_tier, billing_state, deleted, key_id
   FROM control.projection_page($1, $2, $3, $4, $5)`,
);

type Bounds = { floor: string; ceiling: string; changed_xid: string | null };

type ChangedFacts = ({ kind: "organization" } & OrganizationFacts) | CredentialFacts;

/** A changed row: an organization, or a credential, with its position in the order of changes. */
type ChangedRow = { position: ChangePosition } & ChangedFacts;

/** Rows changed after `after`, and the oldest open and the next transaction of the server when it read them. */
export type ProjectionPage = { floor: bigint; ceiling: bigint; rows: ChangedRow[] };

/** Reads at most `limit` rows; the comment of control.projection_page states the order, and the guarantee of `floor`. */
export async function readProjectionPage(
  tx: Tx,
  page: { after: ChangePosition; liveOnly: boolean; limit: number },
): Promise<ProjectionPage> {
  const { after, liveOnly, limit } = page;
  const found = await tx.rows<Bounds & ChangedFacts & { id: string }>(readProjectionPageSql, [
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
      row.changed_xid === null
        ? []
        : [{ ...row, position: { xid: BigInt(row.changed_xid), kind: row.kind, id: row.id } }],
    ),
  };
}

const findCredentialSql = sql(
  "control_find_credential",
  `SELECT kind, id, org_id, hash, scopes, project_id, user_id, role, expires_at, revoked,
          slug, name, plan_tier, billing_state, deleted, key_id
   FROM control.find_credential($1, $2)`,
);

/** Returns the facts that gateways know of a credential and of its organization, by the id in the credential's text. */
export function findCredential(
  tx: Tx,
  kind: CredentialFacts["kind"],
  id: string,
): Promise<(CredentialFacts & OrganizationFacts) | undefined> {
  return tx.one(findCredentialSql, [kind, id]);
}

const recordUseSql = sql("control_record_use", "SELECT control.record_use($1, $2, $3)");

/** Records when credentials were last used; an older time than the recorded one changes nothing. */
export async function recordUse(
  tx: Tx,
  uses: readonly { kind: "api_key" | "session"; id: string; usedAt: string }[],
): Promise<void> {
  // Always in the same order, so that two reports do not wait for each other forever.
  const sorted = uses.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await tx.rows(recordUseSql, [
    sorted.map((use) => use.kind),
    sorted.map((use) => use.id),
    sorted.map((use) => use.usedAt),
  ]);
}

/** The current rights of an API key. */
export type KeyRights = {
  scopes: string[];
  project_id: string | null;
  expires_at: string | null;
  revoked_at: string | null;
  created_by_user_id: string | null;
};

/** The current rights of a session: those of its member. */
type SessionRights = {
  role: Role;
  status: "active" | "invited";
  expires_at: string;
  revoked_at: string | null;
};

const lockKeySql = sql(
  "control_lock_key",
  `SELECT k.scopes, k.project_id, k.expires_at, k.revoked_at,
     (SELECT a.created_by_user_id FROM control.service_accounts a
      WHERE a.org_id = k.org_id AND a.id = k.service_account_id) AS created_by_user_id
   FROM control.api_keys k WHERE k.org_id = $1 AND k.credential_id = $2 FOR SHARE`,
);

/** Reads a key by the id in its text. No other transaction revokes it until this one ends. */
export function lockKey(tx: Tx, orgId: string, credentialId: string): Promise<KeyRights | undefined> {
  return tx.one(lockKeySql, [orgId, credentialId]);
}

const lockSessionSql = sql(
  "control_lock_session",
  `SELECT m.role, m.status, s.expires_at, s.revoked_at
   FROM control.sessions s JOIN control.memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
   WHERE s.org_id = $1 AND s.credential_id = $2 FOR SHARE`,
);

/** Reads a session by the id in its text, and its member. No other transaction ends or changes them until this one ends. */
export function lockSession(tx: Tx, orgId: string, credentialId: string): Promise<SessionRights | undefined> {
  return tx.one(lockSessionSql, [orgId, credentialId]);
}
