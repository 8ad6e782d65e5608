import { sql, type Tx } from "@tidemark/pg";

const findForkFingerprintSql = sql(
  "runs_find_fork_fingerprint",
  "SELECT fork_fingerprint FROM runs.runs WHERE org_id = $1 AND id = $2",
);

/**
 * The fingerprint of the keyed fork request that made a run: null for runs that none made, undefined
 * when the run is not in the organization.
 */
export async function findForkFingerprint(
  tx: Tx,
  orgId: string,
  runId: string,
): Promise<Uint8Array | null | undefined> {
  const row = await tx.one<{ fork_fingerprint: Uint8Array | null }>(findForkFingerprintSql, [orgId, runId]);
  return row?.fork_fingerprint;
}
