import { badRequest } from "@tidemark/errors";
import { VIEW_PANELS, VIEW_POINTS, VIEW_RUNS_MAX } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import type { MetricSeries } from "@tidemark/proto/ingest/v1/ingest";
import type { RunSummary } from "@tidemark/proto/runs/v1/runs";
import type { Clients } from "../../clients.ts";
import type { RouteInput } from "../../route.ts";
import { described, isObject, list, object, required, withDefault, type Field, type Fields } from "../fields/field.ts";
import { toNumber } from "../fields/number.ts";
import { writeDocument } from "../fields/document.ts";
import { uuid } from "../fields/text.ts";
import { readPanels, type ViewContent } from "./panels.ts";

/** A value that was accepted, and how it was made acceptable. */
export type Accepted<T> = { readonly value: T; readonly warning?: string };

/** A number within its bounds. */
type Clamped = Accepted<number>;

/** Describes an optional whole number that is brought within its bounds instead of being refused. */
export function clamped(range: {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}): Field<Clamped> {
  const { min, max } = range;
  const whole = required<Clamped>({ type: "integer" }, (sent, name) => {
    const number = toNumber(sent);
    if (number === undefined || !Number.isInteger(number)) throw badRequest(`${name} must be a whole number`, name);
    const value = Math.min(max, Math.max(min, number));
    return value === number
      ? { value }
      : { value, warning: `${name} must be from ${min} to ${max}; ${value} was taken` };
  });
  const field = withDefault<Clamped>(whole, { value: range.default }, { default: range.default });
  return described(field, `From ${min} to ${max}; a smaller or larger one counts as the nearest, with a warning.`);
}

/** The bounds of the data of a view. */
export const viewOptions = object({
  metric_point_limit: clamped({ min: 1, ...VIEW_POINTS }),
  max_panels: clamped({ min: 1, ...VIEW_PANELS }),
});

/** Most points of all series of an answer. */
export const VIEW_POINTS_TOTAL_MAX = 50_000;

/** Returns how many points each series may have, so that all of them together stay within the bound. */
export function pointsPerSeries(runs: number, lineKeys: number, limit: number): Clamped {
  const series = runs * lineKeys;
  const share = series === 0 ? limit : Math.floor(VIEW_POINTS_TOTAL_MAX / series);
  if (limit <= share) return { value: limit };
  return {
    value: share,
    warning: `${series} series have at most ${VIEW_POINTS_TOTAL_MAX} points together: ${share} each instead of ${limit}`,
  };
}

const utf8 = new TextEncoder();
const utf8Text = new TextDecoder();

/** Describes ids of runs, which are read in lower case, each once. */
export const viewRunIds: Field<string[]> = (() => {
  const ids = list(uuid(), { itemsMin: 1 });
  const distinct: Field<string[]> = {
    ...ids,
    check: (value, name) => {
      const found = [...new Set(ids.check(value, name))];
      if (found.length <= VIEW_RUNS_MAX) return found;
      throw badRequest(`${name} must have at most ${VIEW_RUNS_MAX} different items`, name);
    },
  };
  return described(distinct, `At most ${VIEW_RUNS_MAX} different ones.`);
})();

const view: Field<Uint8Array> = described(
  required({ type: "object" }, (value, name) => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    return utf8.encode(writeDocument(value, name, { unstorable: "keep" }));
  }),
  "An exported view, whose checksum is checked, an object with a `payload`, or a payload.",
);

/** Body of POST /api/workspace-view-data. */
export const viewDataBody = object({
  view,
  run_ids: viewRunIds,
  options: withDefault(viewOptions, viewOptions.read({})),
});

/** The request of POST /api/workspace-view-data. */
type ViewDataAsk = ReturnType<typeof viewDataBody.read>;

/** POST /api/workspace-view-data. @throws bad_request */
export function decodeViewData({ body }: Pick<RouteInput, "body">): ViewDataAsk {
  return viewDataBody.read(body);
}

/** Reads the view, then the data of its panels. @throws bad_request, not_found */
export async function composeViewData(
  clients: Pick<Clients, "reports" | "runs" | "ingestRead">,
  { view: viewJson, runIds, options }: ViewDataAsk,
  call: Call,
): Promise<ViewData> {
  const { payloadJson, warnings } = await clients.reports.readView({ viewJson }, call);
  const panelsMax = options.maxPanels.value;
  const content = readPanels(JSON.parse(utf8Text.decode(payloadJson)) as Fields, panelsMax);
  const told = warningsOf(options.metricPointLimit, options.maxPanels);
  const pointLimit = options.metricPointLimit.value;
  return readViewData(clients, { content, runIds, panelsMax, pointLimit, warnings: [...told, ...warnings] }, call);
}

/** Returns the warnings of adjusted options. */
export function warningsOf(...options: readonly Accepted<unknown>[]): string[] {
  return options.flatMap(({ warning }) => (warning === undefined ? [] : [warning]));
}

/** The runs and the content that a view shows. */
type ViewRequest = {
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
