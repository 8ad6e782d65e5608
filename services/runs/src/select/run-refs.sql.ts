import { sql, type Tx } from "@tidemark/pg";
import { bytesOfDocuments } from "../list/page-weight.sql.ts";
import { runOfId } from "../read/runs.sql.ts";

/** A run and its project. */
export type RefRow = { readonly id: string; readonly projectId: string };

const listRefsSql = sql(
  "runs_list_refs",
  `SELECT r.id, r.project_id AS "projectId"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   ${runOfId("asked.id")}
   WHERE $3::uuid IS NULL OR r.project_id = $3
   ORDER BY asked.ordinal`,
);

/** Returns runs with their projects, in the order of `ids`, and leaves out those that are not in the organization, or not in `projectId`. */
export function listRefsById(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  projectId: string | undefined,
): Promise<RefRow[]> {
  return tx.rows(listRefsSql, [orgId, ids, projectId ?? null]);
}

const listFittingSql = sql(
  "runs_list_fitting",
  `SELECT w.id FROM (
     SELECT r.id, asked.ordinal,
            sum(${bytesOfDocuments("r")})
              OVER (ORDER BY asked.ordinal) AS reached
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
     ${runOfId("asked.id")}
     WHERE $3::uuid IS NULL OR r.project_id = $3) w
   WHERE w.ordinal = 1 OR w.reached <= $4
   ORDER BY w.ordinal`,
);

/** Returns the first of `ids` whose documents have at most `bytesMax` bytes together, and always the first one. */
export async function listFittingRuns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  projectId: string | undefined,
  bytesMax: number,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(listFittingSql, [orgId, ids, projectId ?? null, bytesMax]);
  return rows.map(({ id }) => id);
}
