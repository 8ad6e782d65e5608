import type { Answer } from "../../stack/client.ts";
import type { BenchStack } from "../bench-stack.ts";
import type { ReadCase } from "../http-reads.ts";
import type { Shot } from "../open-sender.ts";

/** Runs that charts are drawn from, of one organization. */
export type ChartRuns = {
  /** One run of this many steps. */
  readonly middle: { readonly id: string; readonly steps: number };
  readonly long: { readonly id: string; readonly steps: number };
  /** Runs to be laid over each other. */
  readonly many: readonly string[];
};

/** The key that charts show. */
export const CHART_KEY = "train/loss";

const series = (runIds: readonly string[], rest: object): Shot => ({
  method: "POST",
  path: "/api/metrics/series",
  body: JSON.stringify({ key: CHART_KEY, run_ids: runIds, ...rest }),
});

/** The reads of charts. */
export function chartReads({ middle, long, many }: ChartRuns): ReadCase[] {
  const count = (steps: number): string => steps.toLocaleString("en-US");
  const fixed = (name: string, shot: Shot): ReadCase => ({ name, shot: () => shot });
  return [
    fixed(`first 5,000 of ${count(middle.steps)} points`, series([middle.id], { limit: 5000 })),
    fixed(`1,200 M4 buckets of ${count(long.steps)} points`, series([long.id], { buckets: 1200 })),
    fixed("8 runs, first 1,000 points each", series(many.slice(0, 8), { limit: 1000 })),
    fixed(`${many.length} runs, first 1,200 points each`, series(many, { limit: 1200 })),
    fixed(`${many.length} runs, 300 M4 buckets each`, series(many, { buckets: 300, limit: 1200 })),
    {
      name: `last 1,000 steps of ${count(long.steps)} points`,
      shot: (index) => series([long.id], { start_step: long.steps - 1000 - (index % 100), limit: 1000 }),
    },
  ];
}

/** Reads that nothing has changed under: the answer's ETag is sent along, 304 comes back. */
export async function unchangedReads(bench: BenchStack, { middle, long }: ChartRuns): Promise<ReadCase[]> {
  const { api } = bench;
  const path = `/runs/${middle.id}/metrics?key=${encodeURIComponent(CHART_KEY)}&limit=5000`;
  const chart = series([long.id], { buckets: 1200 });
  // Without a tag the read is a failed one in the table: its answer is not a 304.
  const tagOf = ({ headers }: Answer): string => String(headers["etag"] ?? '"none"');
  const list = tagOf(await api.get(path));
  const drawn = tagOf(await api.call("POST", chart.path, { rawBody: chart.body! }));
  return [
    {
      name: "GET /runs/{id}/metrics, 5,000 points, unchanged (304)",
      shot: () => ({ method: "GET", path, headers: { "if-none-match": list } }),
      expected: 304,
    },
    {
      name: "1,200 M4 buckets, unchanged (304)",
      shot: () => ({ ...chart, headers: { "if-none-match": drawn } }),
      expected: 304,
    },
  ];
}
