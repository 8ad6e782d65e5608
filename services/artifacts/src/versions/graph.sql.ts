import { sql, type Tx } from "@tidemark/pg";
import { withVisibleRun } from "./edges.sql.ts";
import type { NodeKind, Step } from "./graph.rules.ts";

/** The newest edges of a direction of each of the nodes `$2`, in the order of the nodes. `joins` have the other end. */
const steps = (name: string, own: string, other: string, joins: string, condition: string) =>
  sql(
    name,
    `SELECT asked.id AS "from", s.id AS "to"
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
     CROSS JOIN LATERAL (
       SELECT e.${other} AS id, e.created_at, e.id AS edge_id FROM artifacts.edges e ${joins}
       WHERE e.org_id = $1 AND e.${own} = asked.id AND e.direction = $3 AND ($4::uuid IS NULL OR ${condition} = $4)
       ORDER BY e.created_at DESC, e.id DESC LIMIT $5::bigint) s
     ORDER BY asked.ordinal, s.created_at DESC, s.edge_id DESC`,
  );

const stepsToRuns = steps("artifacts_step_to_runs", "version_id", "run_id", withVisibleRun, "e.project_id");
// A key of a project does not see versions of other projects.
const stepsToVersions = steps(
  "artifacts_step_to_versions",
  "run_id",
  "version_id",
  `CROSS JOIN LATERAL (SELECT f.project_id FROM artifacts.versions f WHERE f.org_id = $1 AND f.id = e.version_id OFFSET 0) v
   CROSS JOIN LATERAL (SELECT FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = v.project_id OFFSET 0) live`,
  "v.project_id",
);

/** Whose edges are read: of all projects or one, and at most how many of each node. */
type StepFilter = {
  readonly direction: "input" | "output";
  readonly projectId: string | undefined;
  readonly limit: number;
};

/** Returns the neighbors of nodes of a kind that are not deleted with their run or project, the newest of each node first. */
export function readSteps(
  tx: Tx,
  orgId: string,
  from: NodeKind,
  ids: readonly string[],
  { direction, projectId, limit }: StepFilter,
): Promise<Step[]> {
  return tx.rows(from === "version" ? stepsToRuns : stepsToVersions, [orgId, ids, direction, projectId ?? null, limit]);
}

/** A run of a graph. */
export type RunLabelRow = {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly status: string;
};

const runLabels = sql(
  "artifacts_read_run_labels",
  `SELECT r.id, r.name, p.name AS project, r.display_status AS status
   FROM unnest($2::uuid[]) WITH ORDINALITY AS e (run_id, ordinal)
   ${withVisibleRun} ORDER BY e.ordinal`,
);

/** Returns the runs with these ids in their order, without deleted ones. */
export function readRunLabels(tx: Tx, orgId: string, ids: readonly string[]): Promise<RunLabelRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : tx.rows(runLabels, [orgId, ids]);
}

const projectNames = sql(
  "artifacts_read_project_names",
  `SELECT p.id, p.name FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (SELECT f.id, f.name FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = asked.id OFFSET 0) p`,
);

/** Returns the names of projects by their ids. */
export async function readProjectNames(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.rows<{ id: string; name: string }>(projectNames, [orgId, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
