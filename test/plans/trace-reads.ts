import { NEWEST, TRACE_ID, type Read } from "./read.ts";

const traceList = (name: string, scope: string, query: string, more: Partial<Read> = {}): Read => ({
  name,
  path: ({ full }) => `/api/traces?${scope}=${scope === "project" ? "rl-control" : full}&limit=50&${query}`,
  items: ({ traces }) => traces!.length,
  ...more,
});

/** Lists of traces, traces and spans. */
export const traceReads: readonly Read[] = [
  ...["run_id", "project"].flatMap((scope) => [
    traceList(`traces of a ${scope}`, scope, ""),
    traceList(`running traces of a ${scope}`, scope, "status=running"),
    // A minute has a row; in a large organization it has 300 traces, and the oldest is the wanted one.
    traceList(`failed traces of a ${scope}`, scope, "status=error", { base: 1200 }),
    traceList(`traces of a ${scope} with a rare kind`, scope, "kind=tool", { base: 1200 }),
    traceList(`traces of a ${scope} with a rare word`, scope, "q=oldest", { base: NEWEST + 500 }),
    traceList(`traces of a ${scope} by the beginning of an id`, scope, "q=ffffffffffffffff", { base: NEWEST + 500 }),
  ]),
  { name: "a trace", path: ({ full }) => `/api/runs/${full}/traces/${TRACE_ID}`, items: () => 1 },
  { name: "spans", path: ({ full }) => `/api/runs/${full}/traces/${TRACE_ID}/spans`, items: () => 1 },
];
