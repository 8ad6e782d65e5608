import type { MetricSeries } from "@tidemark/proto/ingest/v1/ingest";
import type { RunSummary } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { pointsPerSeries } from "./options.ts";
import type { ViewContent } from "./panels.ts";

/** The runs and the content that a view shows. */
export type ViewRequest = {
  readonly content: ViewContent;
  /** Lower-case ids, each once. */
  readonly runIds: readonly string[];
  readonly panelsMax: number;
  readonly pointLimit: number;
  readonly warnings: readonly string[];
};

/** The data of a view. */
export type ViewData = ViewRequest & {
  /** In the order of the ids. */
  readonly runs: readonly RunSummary[];
  /** For each line key, the series of all runs, in the order of the ids. */
  readonly series: readonly (readonly [key: string, series: readonly MetricSeries[]])[];
  readonly pointsPerSeries: number;
  /** RFC 3339. */
  readonly generatedAt: string;
};

/** A bucket of a sampled series has at most this many points. */
const POINTS_OF_BUCKET = 4;

/**
 * Reads the data of a view with the API's own reads of runs and series, one each, as the caller. `known` are the runs with the metrics
 * of the view, where they have been read.
 * @throws not_found when the caller may not see one of the runs, bad_request when the documents of the runs are too large
 */
export async function readViewData(
  { runs, ingestRead }: Pick<Clients, "runs" | "ingestRead">,
  request: ViewRequest,
  call: Call,
  known?: readonly RunSummary[],
): Promise<ViewData> {
  const { content, runIds, pointLimit } = request;
  const points = pointsPerSeries(runIds.length, content.lineKeys.length, pointLimit);
  const buckets = Math.floor(points.value / POINTS_OF_BUCKET);
  const bounds = { limit: points.value, ...(buckets > 0 ? { buckets } : {}) };
  const [found, series] = await Promise.all([
    known === undefined ? runs.getRuns({ runIds: [...runIds], metricKeys: [...content.keys] }, call) : { runs: known },
    content.lineKeys.length === 0
      ? []
      : ingestRead
          .queryMetricSeries({ runIds: [...runIds], keys: [...content.lineKeys], ...bounds }, call)
          .then((answer) => answer.series),
  ]);
  return {
    ...request,
    warnings: [...request.warnings, ...content.warnings, ...(points.warning === undefined ? [] : [points.warning])],
    runs: found.runs,
    series: content.lineKeys.map((key, k) => [key, series.slice(k * runIds.length, (k + 1) * runIds.length)] as const),
    pointsPerSeries: points.value,
    generatedAt: new Date().toISOString(),
  };
}
