import { OBJECTS, type Read } from "./read.ts";
import { columnReads } from "./column-reads.ts";

/** Points, series, console lines, attributes, objects, and writes that look at existing data. */
export const runDataReads: readonly Read[] = [
  { name: "points", path: ({ full }) => `/runs/${full}/metrics?limit=1000`, items: () => 1, base: 120 },
  {
    name: "a series of many runs",
    method: "POST",
    path: () => "/api/metrics/series",
    body: ({ full, page }) => ({ key: "loss", run_ids: [full, ...page] }),
    items: () => 11,
  },
  ...columnReads,
  { name: "console lines", path: ({ full }) => `/api/runs/${full}/logs`, items: ({ lines }) => lines!.length, each: 1 },
  { name: "attributes", path: ({ full }) => `/api/runs/${full}/attributes?limit=50`, items: () => 50, each: 2 },
  ...["limit=20", "limit=20&kind=table", "limit=10&key=eval/1"].map((query): Read => ({
    name: `objects, ${query}`,
    path: ({ full }) => `/api/runs/${full}/objects?${query}`,
    items: ({ objects }) => objects!.length,
    each: 4,
  })),
  ...["limit=20", "limit=20&project=rl-control", "limit=20&kind=text", "limit=20&key=eval/1"].map((query): Read => ({
    name: `objects of many runs, ${query}`,
    path: () => `/api/objects/explorer?${query}`,
    // With a part of a key it looks at all the objects that there are.
    items: ({ objects }) => objects!.length + (query.includes("key") ? OBJECTS : 0),
    each: 7,
  })),
  {
    name: "keys of objects of runs",
    path: ({ full, page }) => `/api/objects/keys?run_ids=${[full, ...page].slice(0, 20).join()}`,
    items: ({ keys }) => keys!.length + OBJECTS,
    base: 200,
    each: 7,
  },
  {
    name: "objects of runs at a step",
    method: "POST",
    path: () => "/api/objects/at-step",
    body: ({ full, page }) => ({ run_ids: [full, ...page].slice(0, 20), keys: ["eval/1", "eval/2"], step: 50 }),
    items: ({ objects }) => objects!.length,
    base: 200,
    each: 7,
  },
  { name: "rows of a table", path: ({ table }) => `/api/objects/${table}/rows`, items: () => 1, base: 20 },
  { name: "values of ranks", path: ({ full }) => `/api/runs/${full}/rank-metrics/summary?key=loss`, items: () => 20 },
  // It looks for the last line of the stream.
  {
    name: "a captured console line",
    method: "POST",
    path: ({ full }) => `/api/runs/${full}/attributes`,
    body: () => ({ attributes: [{ path: "console/stderr", type: "string_series", value: "line" }] }),
    items: () => 1,
    base: 150,
  },
  {
    name: "an added tag",
    method: "POST",
    path: ({ full }) => `/api/runs/${full}/attributes`,
    body: () => ({ attributes: [{ path: "sys/tags", type: "tag", value: "added" }] }),
    items: () => 1,
  },
];
