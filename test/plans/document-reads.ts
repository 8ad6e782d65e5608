import { isDeep } from "@tidemark/testkit";
import { EXPORTED_PROJECT, REPORTS_PROJECT, ROWS_OF_RUN, type Read } from "./read.ts";

/** Three lines, which need points. */
const VIEW = { sections: [{ panels: ["loss", "lr", "eval/loss"].map((metricKey) => ({ metricKey })) }] };

/** Each run is looked up for each kind of rows. */
const exported = (what: string, query: Read["path"]): Read => ({
  name: `an export of ${what}`,
  path: (tenant) => `/api/export?${query(tenant)}`,
  items: (json) => Object.values(json).flatMap((rows) => (Array.isArray(rows) ? rows : [])).length,
  each: 20,
});

/** Reports, imports, exports, views and usage. */
export const documentReads: readonly Read[] = [
  // Its counters: of projects, of points in each of them, of bytes and events.
  { name: "what an organization uses", path: () => "/api/usage", items: () => 1, base: 300 },
  exported(
    "named runs",
    ({ exported: some, page, artifacts }) => `run_ids=${[...some, artifacts.runId, ...page].join(",")}`,
  ),
  exported("a small project", () => `project=${EXPORTED_PROJECT}`),
  // Each statement for a run is executed hundreds of times.
  ...(isDeep
    ? [exported("a long run", ({ full }) => `run_ids=${full}`), exported("a project", () => "project=rl-control")]
    : []),
  {
    name: "the data of a view",
    method: "POST",
    path: () => "/api/workspace-view-data",
    body: ({ full, page }) => ({ view: VIEW, run_ids: [full, ...page] }),
    items: () => 11,
    each: 3 * ROWS_OF_RUN,
  },
  { name: "reports", path: () => "/api/reports", items: ({ reports }) => reports!.length, each: 2 },
  ...[REPORTS_PROJECT, "rl-control"].map((project): Read => ({
    name: `reports of the project ${project}`,
    path: () => `/api/reports?project=${project}`,
    items: ({ reports }) => reports!.length,
    each: 2,
  })),
  {
    name: "panels of reports",
    path: () => "/api/reports/panels?limit=100",
    items: ({ panels }) => panels!.length,
    each: 5,
  },
  { name: "imports", path: () => "/api/imports", items: ({ imports }) => imports!.length, each: 7 },
  { name: "an import", path: () => "/api/imports/jobs/1", items: () => 1 },
];
