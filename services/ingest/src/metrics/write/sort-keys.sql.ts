import { sql, type Tx } from "@tidemark/pg";

/** A sort key of an organization. */
export type SortKeyRow = { readonly key: string; readonly by: "best" | "latest" };

const loadKeys = sql(
  "ingest_load_sort_keys",
  `SELECT v.version, s.key, s.by FROM ingest.sort_key_versions v LEFT JOIN ingest.sort_keys s ON s.org_id = v.org_id
   WHERE v.org_id = $1`,
);

/** Returns the sort keys of an organization, ready or not, and their version, which a writer has to show. */
export async function loadSortKeys(
  tx: Tx,
  orgId: string,
): Promise<{ readonly version: number; readonly keys: readonly SortKeyRow[] }> {
  const rows = await tx.rows<{ version: number; key: string | null; by: SortKeyRow["by"] }>(loadKeys, [orgId]);
  return {
    version: rows[0]?.version ?? 0,
    keys: rows.flatMap(({ key, by }) => (key === null ? [] : [{ key, by }])),
  };
}
