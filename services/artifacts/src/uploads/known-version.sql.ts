import { sql, type Tx } from "@tidemark/pg";
import { isAvailable } from "../versions/versions.sql.ts";

// By the digest alone first, in any state: to the planner, walking the active versions of the collection would look as good.
const findByDigest = sql(
  "artifacts_find_version_by_digest",
  `SELECT v.id
   FROM (SELECT f.* FROM artifacts.versions f
         WHERE f.org_id = $1 AND f.digest = decode($3, 'hex') OFFSET 0) v
   WHERE v.collection_id = $2 AND ${isAvailable}
   ORDER BY v.version_index DESC LIMIT 1`,
);

/** Returns the newest available version of a collection whose manifest has this digest (64 hexadecimal digits). The collection is locked. */
export async function findVersionByDigest(
  tx: Tx,
  orgId: string,
  collectionId: string,
  digest: string,
): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findByDigest, [orgId, collectionId, digest]))?.id;
}
