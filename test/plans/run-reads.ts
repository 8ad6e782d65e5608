import { FORKS, NEWEST, ORDERED_ARRAYS, type Read } from "./read.ts";

/** Path of a page of 25 runs with their total. */
export const summary = (query: string): string => `/api/runs/summary?limit=25&${query}`;
const search = (q: string): string => `q=${encodeURIComponent(q)}`;
const list = (name: string, path: string, more: Partial<Read> = {}): Read => ({
  name,
  path: () => path,
  items: ({ runs }) => runs.length,
  ...more,
});
/** Orders that lists have without columns. */
export const sorts = [
  "name",
  "status",
  "duration",
  "metric-best&metric_key=eval/loss",
  "metric-latest&metric_key=train/loss",
];

/** Lists, searches and runs. */
export const runReads: readonly Read[] = [
  list("newest", "/runs?limit=50"),
  list("newest of a project", "/runs?limit=50&project=rl-control"),
  list("an experiment of MLflow by number", "/api/2.0/mlflow/experiments/get?experiment_id=2", { items: () => 1 }),
  list("an experiment of MLflow by name", "/api/2.0/mlflow/experiments/get-by-name?experiment_name=rl-control", {
    items: () => 1,
  }),
  {
    ...list("runs of an experiment of MLflow", "/api/2.0/mlflow/runs/search"),
    method: "POST",
    body: () => ({ experiment_ids: ["2"], max_results: 25 }),
  },
  list("experiments of MLflow", "/api/2.0/mlflow/experiments/search?max_results=20", {
    items: ({ experiments }) => experiments!.length,
  }),
  list("a project by name", "/projects?name=rl-control", { items: ({ projects }) => projects!.length }),
  list("newest with total", summary("")),
  list("newest for choosing", summary("projection=selection&project=rl-control"), { each: 4 }),
  { ...list("second page", ""), path: ({ cursor }) => summary(`project=rl-control&cursor=${cursor}`) },
  list("far page", "/runs?limit=50&offset=500", { base: 600 }),
  ...sorts.flatMap((sort) => [
    list(`by ${sort}`, summary(`sort_by=${sort}`)),
    list(`by ${sort}, of a project`, summary(`sort_by=${sort}&project=rl-control`), { each: 40 }),
  ]),
  list("by a metric that no run has", summary("sort_by=metric-best&metric_key=nobody"), { each: 14 }),
  // Few are looked up and sorted.
  list("failed ones", summary("status=failed"), {
    items: ({ total }) => Math.min(total, 2000),
    since: ORDERED_ARRAYS,
  }),
  list("running ones of a project", summary("status=running&project=rl-control"), {
    items: ({ total }) => Math.min(total, 2000),
    since: ORDERED_ARRAYS,
  }),
  // A walk along the order would pass nearly all runs.
  list("stopping ones", summary("display_status=stopping")),
  list("stopping ones by metric", summary("display_status=stopping&sort_by=metric-best&metric_key=eval/loss")),
  // Each running run is looked at, by its key.
  list("stale ones", summary("stale=true"), {
    items: ({ total }) => total,
    each: 8,
    base: 400,
    since: ORDERED_ARRAYS,
  }),
  list("those that are not stale", summary("stale=false"), { items: ({ total }) => total, each: 8, base: 400 }),
  list("a rare tag", summary(search("tag:paper-fig3")), { items: ({ total, runs }) => total + runs.length }),
  list("a rare tag without total", `/runs?limit=25&${search("tag:paper-fig3")}`, { base: NEWEST + 500 }),
  list("a common tag without total", `/runs?limit=25&${search("tag:team-7")}`, { base: NEWEST + 500 }),
  list("a common word without total", `/runs?limit=25&${search("adamw")}`, { base: NEWEST + 500 }),
  list("a word that no run has", `/runs?limit=25&${search("zzzznothing")}`, { base: NEWEST + 500 }),
  list("a common word", summary(search("adamw")), { items: ({ total, runs }) => total + runs.length }),
  list("a rare literal", summary(search("canyon-4711")), { base: 400 }),
  list("terms together", summary(search("tag:paper-fig3 AND -notes:reviewer AND (lion OR status:failed)")), {
    base: 400,
  }),
  list("a rare tag by metric", `${summary(search("tag:paper-fig3"))}&sort_by=metric-best&metric_key=eval/loss`, {
    items: ({ total, runs }) => total + runs.length,
  }),
  ...[
    String.raw`tag:paper-fig3 re:/"lr":0\.0+[13],/`,
    String.raw`re:/gpu-node-17\.cluster.*tokenizer/`,
    String.raw`notes:re:/ no 47\d\d$/`,
    "tag:re:/^paper-fig[0-9]$/",
  ].map((q) =>
    list(`the expression ${q}`, summary(search(q)), {
      items: ({ total, runs }) => total + runs.length,
      each: 50,
      base: 1000,
    }),
  ),
  { name: "overview", path: () => "/api/overview", items: () => 1 },
  { name: "overview of a project", path: () => "/api/overview?project=rl-control", items: () => 1 },
  { name: "projects", path: () => "/projects", items: ({ projects }) => projects!.length },
  { name: "a run", path: ({ page }) => `/runs/${page[0]}`, items: () => 1 },
  { name: "the readme of a run", path: ({ page }) => `/api/runs/${page[0]}/readme`, items: () => 1 },
  { name: "a run and its relatives", path: ({ full }) => `/api/runs/${full}/lineage`, items: () => FORKS, each: 14 },
  {
    name: "runs side by side",
    path: ({ page }) => `/api/runs/side-by-side?run_ids=${page.slice(0, 5).join(",")}`,
    items: () => 5,
    each: 20,
  },
];
