import { sql, type Tx } from "@tidemark/pg";

const weighRunsSql = sql(
  "runs_weigh",
  `SELECT octet_length(r.config) + octet_length(r.metadata) + coalesce(octet_length(array_to_string(r.tags, '')), 0) AS bytes
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, place)
   JOIN runs.runs r ON r.org_id = $1 AND r.id = chosen.id
   ORDER BY chosen.place`,
);

/** Bytes of the free-form documents and tags of runs, in the order of their ids. */
export async function weighRuns(tx: Tx, orgId: string, ids: readonly string[]): Promise<number[]> {
  const rows = await tx.rows<{ bytes: number }>(weighRunsSql, [orgId, ids]);
  return rows.map(({ bytes }) => bytes);
}
