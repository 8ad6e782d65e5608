import { plannedSql, sql, type Tx } from "@tidemark/pg";
import { parameters } from "../search/search-condition.sql.ts";
import { runSource, type PlainFilter } from "./run-conditions.ts";

const ofProjects = sql(
  "runs_count_points_of_projects",
  `SELECT (SELECT coalesce(sum(p.points), 0) FROM ingest.project_points_v1 p
           WHERE p.org_id = $1 AND ($2::uuid IS NULL OR p.project_id = $2))::bigint
          + (SELECT coalesce(sum(u.points_since), 0) FROM ingest.unsettled_points_v1 u
             JOIN runs.runs r ON r.org_id = u.org_id AND r.id = u.run_id
             WHERE u.org_id = $1 AND ($2::uuid IS NULL OR r.project_id = $2))::bigint AS points`,
);

/** How many metric values the runs of a filter have: those counted when runs settled, and what came since. */
export async function countMetricPoints(tx: Tx, orgId: string, filter: PlainFilter): Promise<number> {
  const { projectId, status, displayStatus, search, ids } = filter;
  if ([status, displayStatus, search, ids].every((part) => part === undefined)) {
    return (await tx.one<{ points: number }>(ofProjects, [orgId, projectId ?? null]))?.points ?? 0;
  }
  const { values, bind } = parameters(orgId);
  const { from, where, id } = runSource(filter, false, bind);
  const statement = plannedSql(
    "runs_count_points_of_runs",
    `SELECT coalesce(sum(coalesce(s.points, 0) + coalesce(u.points_since, 0)), 0)::bigint AS points
     FROM (SELECT ${id} AS id FROM ${from} WHERE ${where}) r
     LEFT JOIN ingest.settled_points_v1 s ON s.org_id = $1 AND s.run_id = r.id
     LEFT JOIN ingest.unsettled_points_v1 u ON u.org_id = $1 AND u.run_id = r.id`,
  );
  return (await tx.one<{ points: number }>(statement, values))?.points ?? 0;
}
