import { sql, uuidArray, type Tx } from "@tidemark/pg";

const takenIn = (table: string) =>
  sql(
    `artifacts_find_taken_${table}`,
    `SELECT w.id FROM unnest($2::uuid[]) AS w (id)
     CROSS JOIN LATERAL (SELECT FROM artifacts.${table} o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) o`,
  );

const statements = new Map([
  ["artifact", takenIn("artifacts")],
  ["collection", takenIn("collections")],
  ["version", takenIn("versions")],
  ["entry", takenIn("entries")],
  ["edge", takenIn("edges")],
]);

/** Returns whether rows of a type have ids that may be taken. */
export function hasIds(type: string): boolean {
  return statements.has(type);
}

/** Returns those ids that rows of a type have in the organization. */
export async function findTakenIds(tx: Tx, orgId: string, type: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(statements.get(type)!, [orgId, uuidArray([...ids])]);
  return rows.map(({ id }) => id);
}
