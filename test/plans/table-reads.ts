import { NEWEST, type Read } from "./read.ts";
import { summary } from "./run-reads.ts";

const COLUMNS = "config.lr,metrics.eval/loss.best,attributes.notes/7";
const lr = (operator: string): string => `q=${encodeURIComponent(`config.lr${operator}0.01`)}`;
const table = (name: string, query: string, more: Partial<Read> = {}): Read => ({
  name,
  path: () => summary(query),
  items: ({ runs }) => runs.length,
  each: 20,
  ...more,
});
const runIds = ({ full, page }: { readonly full: string; readonly page: readonly string[] }) => [full, ...page];

/** Tables with columns, key catalogues, correlations, groups and bulk updates. */
export const tableReads: readonly Read[] = [
  table("columns of runs", `columns=${COLUMNS}`),
  table("columns of the runs of a project", `columns=${COLUMNS}&project=rl-control`),
  // A kept column is an index; in an organization that has none, each run is looked up.
  table("by a kept column", `columns=${COLUMNS}&sort_by=config.lr`, { base: 200 }),
  table("by a kept column, descending, of a project", "sort_by=config.lr&sort_dir=desc&project=rl-control", {
    base: 1500,
  }),
  // Matches are counted: every run is looked at, once.
  table("by a value of the config", lr("<"), { items: ({ total }) => total, each: 20, base: 1500 }),
  table("by a value and a rare tag", `${lr("<")}%20tag:paper-fig3`, {
    items: ({ total, runs }) => total + runs.length,
    base: 1000,
  }),
  ...["", "&kind=config", "&kind=metric&q=loss", "&prefix=notes/"].map((query): Read => ({
    name: `keys of a project${query.replace("&", ", ")}`,
    path: ({ projectId }) => `/api/projects/${projectId}/keys?limit=50${query}`,
    // They are counted once for all the requests that follow.
    items: () => 50,
  })),
  {
    name: "keys of some runs",
    path: (tenant) => `/api/projects/${tenant.projectId}/keys?limit=50&run_ids=${runIds(tenant).join(",")}`,
    items: () => 50,
    each: 40,
  },
  {
    name: "correlations over runs",
    method: "POST",
    path: () => "/api/runs/correlations",
    body: (tenant) => ({ metric: "eval/loss", run_ids: runIds(tenant) }),
    items: () => 11,
    each: 60,
  },
  {
    name: "correlations of columns over a rare tag",
    method: "POST",
    path: () => "/api/runs/correlations",
    body: () => ({ metric: "eval/loss", columns: ["config.lr"], filter: { q: "tag:paper-fig3" } }),
    items: (json) => Number((json as unknown as { run_count: number }).run_count),
    each: 40,
    base: 1000,
  },
  {
    name: "metrics over groups",
    method: "POST",
    path: () => "/api/metrics/groups",
    body: (tenant) => ({ keys: ["loss"], by: ["config.lr", "tags"], run_ids: runIds(tenant), buckets: 4 }),
    items: () => 11,
    each: 40,
  },
  {
    name: "a bulk update of named runs, dry",
    method: "POST",
    path: () => "/api/runs/bulk-update",
    body: (tenant) => ({ run_ids: runIds(tenant), set: { notes: "n" }, dry_run: true }),
    items: () => 11,
  },
  {
    name: "a bulk update of a rare tag, dry",
    method: "POST",
    path: () => "/api/runs/bulk-update",
    body: () => ({ filter: { q: "tag:paper-fig3" }, set: { notes: "n" }, dry_run: true }),
    items: (json) => Number((json as unknown as { matched: number }).matched),
    base: NEWEST + 500,
  },
  {
    name: "a move of named runs, dry",
    method: "POST",
    path: () => "/api/runs/move",
    body: (tenant) => ({ run_ids: runIds(tenant), project: "elsewhere", dry_run: true }),
    items: () => 11,
  },
  {
    name: "a bulk update of named runs",
    method: "POST",
    path: () => "/api/runs/bulk-update",
    body: (tenant) => ({ run_ids: runIds(tenant), set: { notes: "the same" } }),
    items: () => 11,
    each: 20,
  },
];
