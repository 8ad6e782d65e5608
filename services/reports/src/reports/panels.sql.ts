import { sql, type Tx } from "@tidemark/pg";
import type { PanelSource, PanelStart } from "./panels.rules.ts";

// Reports of an organization and of a project are walks of different indexes, each with its own order.
const sourcesSql = (name: string, owned: string, createdAt: string, start: string) =>
  sql(
    name,
    `SELECT r.id, r.created_at AS "createdAt", r.panel_count AS "panelCount", r.panel_bytes AS "panelBytes"
     FROM reports.reports r WHERE r.org_id = $1 AND r.deleted_at IS NULL AND r.panel_count > 0 AND ${owned} AND ${start}
     ORDER BY ${createdAt} DESC, r.id DESC LIMIT $2::bigint`,
  );
const ALL = ["$3::uuid IS NULL", "(r.created_at AT TIME ZONE 'UTC')"] as const;
// Conditions on the values alone are checked once, before the walk.
const OF_PROJECT = ["r.project_id = $3 AND NOT runs.is_deleted_project_v1($1, $3)", "r.created_at"] as const;
const FIRST = "$4::timestamptz IS NULL AND $5::uuid IS NULL";
const firstSql = sourcesSql("reports_panel_sources", ...ALL, FIRST);
const nextSql = sourcesSql(
  "reports_next_panel_sources",
  ...ALL,
  "((r.created_at AT TIME ZONE 'UTC'), r.id) <= ($4::timestamptz AT TIME ZONE 'UTC', $5::uuid)",
);
const firstOfProjectSql = sourcesSql("reports_panel_sources_of_project", ...OF_PROJECT, FIRST);
const nextOfProjectSql = sourcesSql(
  "reports_next_panel_sources_of_project",
  ...OF_PROJECT,
  "(r.created_at, r.id) <= ($4::timestamptz, $5::uuid)",
);

/** Returns reports with panels, newest first, from a report on. */
export function listPanelSources(
  tx: Tx,
  orgId: string,
  { projectId, start, limit }: { projectId: string | undefined; start: PanelStart | undefined; limit: number },
): Promise<PanelSource[]> {
  const values = [orgId, limit, projectId ?? null, start?.createdAt ?? null, start?.id ?? null];
  if (projectId === undefined) return tx.rows(start === undefined ? firstSql : nextSql, values);
  return tx.rows(start === undefined ? firstOfProjectSql : nextOfProjectSql, values);
}

/** Panels of a report: JSON texts, and the place of each in its grid. */
export type PanelsRow = {
  readonly title: string;
  readonly panels: readonly string[];
  readonly indexes: readonly number[];
};

const readSql = sql(
  "reports_read_panels",
  `SELECT r.title, d.panels, d.indexes
   FROM unnest($2::uuid[], $3::integer[], $4::integer[]) WITH ORDINALITY AS w (id, first, last, place)
   CROSS JOIN LATERAL (SELECT f.title FROM reports.reports f WHERE f.org_id = $1 AND f.id = w.id OFFSET 0) r
   CROSS JOIN LATERAL (
     SELECT f.panels[w.first:w.last] AS panels, f.panel_indexes[w.first:w.last] AS indexes FROM reports.documents f
     WHERE f.org_id = $1 AND f.report_id = w.id OFFSET 0) d
   ORDER BY w.place`,
);

/** Returns panels of reports in the given order, for each report from `from` (counted from 0) to before `to`. */
export function readPanels(
  tx: Tx,
  orgId: string,
  wanted: readonly { readonly id: string; readonly from: number; readonly to: number }[],
): Promise<PanelsRow[]> {
  // Arrays count from 1.
  const places = [wanted.map(({ id }) => id), wanted.map(({ from }) => from + 1), wanted.map(({ to }) => to)];
  return tx.rows(readSql, [orgId, ...places]);
}
