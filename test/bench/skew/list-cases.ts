/** A list or a search that is compared between two organizations with the same number of runs. */
export type ListCase = {
  readonly name: string;
  readonly path: string;
  /** Whether all runs of the organization may be running, and have six metric keys. */
  readonly fresh: boolean;
};

const summary = (query: string): string => `/api/runs/summary?limit=25&${query}`;
const search = (q: string): string => summary(`q=${encodeURIComponent(q)}`);
const metric = (sort: string, key: string, query = ""): string => summary(`sort_by=${sort}&metric_key=${key}${query}`);
const project = "project=rl-control";

const always = (name: string, path: string): ListCase => ({ name, path, fresh: true });
const settled = (name: string, path: string): ListCase => ({ name, path, fresh: false });

/** What dashboards and the SDK ask for most, over the runs that the seed makes. */
export const listCases: readonly ListCase[] = [
  always("newest 50 of a project", `/runs?limit=50&${project}`),
  always("newest 25 with total", summary("")),
  always("newest 50 of a project for choosing", `/api/runs/summary?limit=50&projection=selection&${project}`),
  always("by best metric", metric("metric-best", "train/loss")),
  always("by best metric, of a project", metric("metric-best", "train/loss", `&${project}`)),
  always("by latest metric", metric("metric-latest", "train/accuracy")),
  always("by name", summary("sort_by=name")),
  settled("by duration", summary("sort_by=duration")),
  settled("failed ones", summary("status=failed")),
  always("rare tag, with total", search("tag:paper-fig3")),
  always("rare tag, by best metric", `${search("tag:paper-fig3")}&sort_by=metric-best&metric_key=train/loss`),
  always("one word of a config", search("canyon-4711")),
  always("common word, no total", "/runs?limit=25&q=adamw"),
  always("terms together, with total", search("tag:team-7 AND -notes:reviewer AND lion")),
  always("overview of the organization", "/api/overview?metric_key=train/loss"),
  always("overview of a project", `/api/overview?${project}&metric_key=train/loss`),
];
