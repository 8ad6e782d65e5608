import { badRequest } from "@tidemark/errors";
import { VIEW_POINTS, VIEW_RUNS_MAX } from "@tidemark/limits";
import type { RunSummary } from "@tidemark/proto/runs/v1/runs";
import { createJsonBytes, writeJson, type Json, type JsonBytes } from "../../http/json.ts";
import type { RouteReply, Schema } from "../../route.ts";
import { pointsBytesMax, pointSchema, writePoints } from "../metrics/points.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  objectSchema,
  requireMessage,
  textOrNullSchema,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";
import { aggregateSchema, aggregateTexts, runSummarySchema, summaryJson } from "../runs/rows.ts";
import { VIEW_POINTS_TOTAL_MAX, type ViewData } from "./read.ts";
import { LINE, panelFieldNames, type ViewPanel } from "./panels.ts";

/** Most bytes of an answer. */
export const VIEW_BYTES_MAX = 10 * 1024 * 1024;

/** Initial bytes of the buffer, which grows. */
const CAPACITY = 256 * 1024;

/** `{"view_data": …}`. @throws bad_request when it would be too large */
export function encodeViewData(data: ViewData): RouteReply {
  const json = boundedJson();
  const { content, runIds, runs, series } = data;
  const { panels, keys } = content;
  json.text(`{"view_data":{"schema_version":1,"generated_at":${JSON.stringify(data.generatedAt)},`);
  json.text(`"run_ids":${JSON.stringify(runIds)},"runs":[`);
  runs.forEach((run, i) => json.text(`${i > 0 ? "," : ""}${writeJson(summaryJson(run))}`));
  json.text(`],"metric_keys":${JSON.stringify(keys)},"metric_series":[`);
  let pointsTotal = 0;
  series.forEach(([key, ofRuns], k) => {
    json.text(`${k > 0 ? "," : ""}{"metric_key":${JSON.stringify(key)},"series":[`);
    ofRuns.forEach(({ points: columns, truncated, sampled }, i) => {
      const points = requireMessage(columns);
      pointsTotal += points.steps.length;
      json.text(`${i > 0 ? "," : ""}{"run_id":${JSON.stringify(runIds[i])},"metrics":[`);
      json.write(pointsBytesMax(key, points), (target, at) => writePoints(target, at, key, points));
      json.text(`],"truncated":${truncated},"sampled":${sampled}}`);
    });
    json.text("]}");
  });
  json.text('],"panels":[');
  const summaries = summaryTexts(runs, keys);
  panels.forEach((panel, i) => {
    json.text(`${i > 0 ? "," : ""}${writeJson(panelJson(panel)).slice(0, -1)},"summary_values":[`);
    json.text(`${summaries.get(panel.metricKey)}],"warnings":${JSON.stringify(panel.warnings)}}`);
  });
  const limits = {
    run_ids: VIEW_RUNS_MAX,
    panels: data.panelsMax,
    points_per_series: data.pointsPerSeries,
    max_points_per_series: VIEW_POINTS.max,
    total_points: pointsTotal,
    max_total_points: VIEW_POINTS_TOTAL_MAX,
    max_response_bytes: VIEW_BYTES_MAX,
  };
  json.text(`],"warnings":${JSON.stringify(data.warnings)},"limits":${JSON.stringify(limits)}}}`);
  return { body: null, bytes: json.take() };
}

function panelJson(panel: ViewPanel): { readonly [key: string]: Json } {
  const isLine = panel.type === LINE;
  return {
    id: panel.id,
    title: panel.title,
    type: panel.type,
    section_id: panel.sectionId,
    section_name: panel.sectionName,
    metric_key: panel.metricKey,
    ...panel.fields,
    data_kind: isLine ? "metric_series" : "metric_summary",
    series_key: isLine ? panel.metricKey : null,
  };
}

/** Writes the values of each key in all runs, null where a run does not have it. Panels of one key share the text. */
function summaryTexts(runs: readonly RunSummary[], keys: readonly string[]): ReadonlyMap<string, string> {
  const shown = runs.map((summary) => {
    const metrics = requireMessage(summary.metrics);
    const places = new Map(metrics.keys.map((key, i) => [key, i]));
    return {
      head: `{"run_id":${JSON.stringify(requireMessage(summary.run).id)},"latest":`,
      places,
      ...aggregateTexts(metrics),
    };
  });
  return new Map(
    keys.map((key) => {
      const values = shown.map(({ head, places, latest, aggregates }) => {
        const at = places.get(key);
        return at === undefined
          ? `${head}null,"aggregate":null}`
          : `${head}${latest[at]},"aggregate":${aggregates[at]}}`;
      });
      return [key, values.join(",")];
    }),
  );
}

/** JSON that is refused as soon as it is too large. */
function boundedJson(): Pick<JsonBytes, "text" | "write" | "take"> {
  const json = createJsonBytes(CAPACITY);
  const check = (more: number): void => {
    if (json.length() + more <= VIEW_BYTES_MAX) return;
    throw badRequest(`the data has more than ${VIEW_BYTES_MAX} bytes; ask for fewer runs, panels or points`);
  };
  return {
    text(text) {
      check(text.length);
      json.text(text);
    },
    write(bytesMax, write) {
      json.write(bytesMax, write);
      check(0);
    },
    take() {
      check(0);
      return json.take();
    },
  };
}

const series = objectSchema({
  run_id: uuidSchema,
  metrics: listSchema(pointSchema),
  truncated: booleanSchema,
  sampled: booleanSchema,
});

const summaryValue = objectSchema({
  run_id: uuidSchema,
  latest: numberOrNullSchema,
  aggregate: { anyOf: [aggregateSchema, { type: "null" }] },
});

const panel = objectSchema(
  {
    id: textSchema,
    title: textSchema,
    type: textSchema,
    section_id: textSchema,
    section_name: textSchema,
    metric_key: textSchema,
    ...Object.fromEntries(panelFieldNames.map((name) => [name, textSchema])),
    data_kind: { type: "string", enum: ["metric_series", "metric_summary"] },
    series_key: { ...textOrNullSchema, description: "Of the series in metric_series that a line panel shows." },
    summary_values: listSchema(summaryValue),
    warnings: listSchema(textSchema),
  },
  panelFieldNames,
);

/** The data of a view, as it is answered. */
export const viewDataSchema: Schema = objectSchema({
  view_data: objectSchema({
    schema_version: { const: 1 },
    generated_at: timeSchema,
    run_ids: listSchema(uuidSchema),
    runs: listSchema(runSummarySchema),
    metric_keys: listSchema(textSchema),
    metric_series: listSchema(objectSchema({ metric_key: textSchema, series: listSchema(series) })),
    panels: listSchema(panel),
    warnings: listSchema(textSchema),
    limits: objectSchema({
      run_ids: countSchema,
      panels: countSchema,
      points_per_series: countSchema,
      max_points_per_series: countSchema,
      total_points: countSchema,
      max_total_points: countSchema,
      max_response_bytes: countSchema,
    }),
  }),
});
