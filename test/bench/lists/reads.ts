/** A list or a search of the runs that the seed makes. */
export type ListRead = { readonly name: string; readonly path: string };

const project = "project=rl-control";
const q = encodeURIComponent;

/** Returns the path of a page of 25 runs with their total. */
export const summary = (query: string): string => `/api/runs/summary?limit=25&${query}`;
const metric = (sort: string, key: string, query = ""): string => summary(`sort_by=${sort}&metric_key=${key}${query}`);
const rareTag = summary(`q=${q("tag:paper-fig3")}`);

/** The most frequent requests of dashboards and the SDK. */
export const commonReads = {
  newest: { name: "newest 25", path: "/runs?limit=25" },
  ofProject: { name: "newest 50 of a project", path: `/runs?limit=50&${project}` },
  choosing: { name: "newest 50 without metrics", path: `/api/runs/summary?limit=50&projection=selection&${project}` },
  withTotal: { name: "newest 25 with total", path: summary("") },
  best: { name: "by best metric", path: metric("metric-best", "train/loss") },
  bestOfProject: { name: "by best metric of a project", path: metric("metric-best", "train/loss", `&${project}`) },
  latest: { name: "by latest metric", path: metric("metric-latest", "train/accuracy") },
  byName: { name: "by name", path: summary("sort_by=name") },
  rareTag: { name: "rare tag, with total", path: rareTag },
  rareTagBest: { name: "rare tag, by best metric", path: `${rareTag}&sort_by=metric-best&metric_key=train/loss` },
  rareWord: { name: "rare word, with total", path: summary("q=canyon-4711") },
  commonWord: { name: "common word, no total", path: "/runs?limit=25&q=adamw" },
  terms: {
    name: "terms together, with total",
    path: summary(`q=${q("tag:paper-fig3 AND -notes:reviewer AND (lion OR status:failed)")}`),
  },
  overview: { name: "overview of the organization", path: "/api/overview?metric_key=train/loss" },
  overviewOfProject: { name: "overview of a project", path: `/api/overview?${project}&metric_key=train/loss` },
} as const satisfies Record<string, ListRead>;

/** A regular expression whose literals leave few runs. */
export const expression: ListRead = {
  name: "regular expression with literals, with total",
  path: summary(`q=${q(String.raw`re:/gpu-node-17\.cluster.*tokenizer/`)}`),
};

/** Columns of every kind, as a table of the dashboard may have them. */
const TABLE_COLUMNS = [
  ...["lr", "optimizer", "seed", "batch_size", "model.depth", "model.family"].map((path) => `config.${path}`),
  ...["eval/return_mean.best", "eval/return_mean", "eval/loss.best", "eval/loss.mean"].map((key) => `metrics.${key}`),
  ...["note", "config/lr"].map((path) => `attributes.${path}`),
];

/** Returns the path of a table of 50 runs with these columns. */
export const table = (query: string, columns: readonly string[] = TABLE_COLUMNS): string =>
  `/api/runs/summary?limit=50&projection=selection&columns=${columns.join(",")}&${query}`;
