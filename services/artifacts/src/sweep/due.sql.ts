import { sql, type Tx } from "@tidemark/pg";

/** A due item of an organization. */
export type Due = { readonly orgId: string; readonly id: string };

/** A statement of the worker's role, which sees due items of all organizations, oldest first. */
const due = (name: string, table: string, condition: string, since: string) =>
  sql(
    `artifacts_due_${name}`,
    `SELECT org_id AS "orgId", id FROM artifacts.${table} WHERE ${condition} ORDER BY ${since} LIMIT $1::bigint`,
  );

const UPLOADS = "state = 'uploading' AND expires_at < now()";
const LEFT = "state IN ('completing', 'provider_completed') AND verified_until < now()";
const EXPIRED = "state = 'active' AND expires_at IS NOT NULL AND expires_at < now()";
const PURGEABLE = "state = 'soft_deleted' AND purged_at IS NULL AND purge_after < now()";
const OBJECTS = "state <> 'stored' AND sweep_after < now()";
/** A repeated `complete` gets its answer for as long as repeated requests with a key get theirs. */
const ENDED = "state IN ('active', 'deduplicated', 'failed') AND created_at < now() - interval '7 days'";

const statements = {
  uploads: due("uploads", "upload_sessions", UPLOADS, "expires_at"),
  left: due("left_uploads", "upload_sessions", LEFT, "verified_until"),
  ended: due("ended_uploads", "upload_sessions", ENDED, "created_at"),
  expired: due("expired_versions", "versions", EXPIRED, "expires_at"),
  purgeable: due("purgeable_versions", "versions", PURGEABLE, "purge_after"),
  objects: due("objects", "objects", OBJECTS, "sweep_after"),
} as const;

/** Kinds of due items: uploads whose time is over, that a process has left, or that ended long ago; versions past their end or their grace period; objects. */
export type DueKind = keyof typeof statements;

/** Returns due items, oldest first. `worker` has the worker's role. */
export function listDue(worker: Tx, kind: DueKind, limit: number): Promise<Due[]> {
  return worker.rows(statements[kind], [limit]);
}

const count = sql(
  "artifacts_count_due",
  `SELECT (SELECT count(*) FROM artifacts.upload_sessions WHERE ${UPLOADS}) AS sessions,
     (SELECT count(*) FROM artifacts.versions WHERE ${EXPIRED}) AS "versionsExpired",
     (SELECT count(*) FROM artifacts.versions WHERE ${PURGEABLE}) AS "versionsPurged",
     (SELECT count(*) FROM artifacts.objects WHERE ${OBJECTS}) AS objects,
     (SELECT coalesce(sum(size_bytes), 0)::bigint FROM artifacts.objects WHERE ${OBJECTS}) AS bytes`,
);

/** The amounts that a sweep removed, or would remove; bytes as far as they are known. */
export type Swept = {
  readonly sessions: number;
  readonly versionsExpired: number;
  readonly versionsPurged: number;
  readonly objects: number;
  readonly bytes: number;
};

/** Counts items that are due now, not those that these would make due in turn. */
export async function countDue(worker: Tx): Promise<Swept> {
  return (await worker.one<Swept>(count, []))!;
}
