import { parseExact } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { VIEW_PANELS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { createPauses } from "@tidemark/work";
import { createJsonBytes, writeJson } from "../../../http/json.ts";
import type { RouteReply, Schema } from "../../../route.ts";
import { addSeries } from "../../metrics/columns.ts";
import { seriesColumnsSchema } from "../../metrics/series.ts";
import { countSchema, listSchema, objectSchema, textSchema, timeSchema, uuidSchema } from "../../replies.ts";
import { VIEW_BYTES_MAX } from "../../view-data/encode.ts";
import { VIEW_POINTS_TOTAL_MAX } from "../../view-data/read.ts";
import { valuesOf } from "./columns.ts";
import type { SharedData } from "./compose.ts";

/** Writes `{"view_data": …}` in turns with other work. @throws bad_request when it would be too large */
export async function writeSharedData({ grids, pointsPerSeries, warnings, generatedAt }: SharedData): Promise<Buffer> {
  const json = createJsonBytes(64 * 1024);
  const pauseIfLong = createPauses();
  const goOn = (): Promise<void> | undefined => {
    if (json.length() > VIEW_BYTES_MAX)
      throw badRequest("the panels of this report have more data than a link can show");
    return pauseIfLong();
  };
  json.text(`{"view_data":{"schema_version":1,"generated_at":${JSON.stringify(generatedAt)},"grids":[`);
  for (const [g, { grid, runs, series }] of grids.entries()) {
    json.text(`${g > 0 ? "," : ""}{"block":${grid.block},"runs":[`);
    for (const [i, shown] of runs.entries()) {
      const { id, name } = shown.run;
      const row = { id, name, status: shown.status, values: valuesOf(shown, grid.columns) };
      json.text(`${i > 0 ? "," : ""}${writeJson(row)}`);
      await goOn();
    }
    json.text(`],"metric_keys":${JSON.stringify(grid.lineKeys)},"series":[`);
    for (const [i, one] of series.entries()) {
      json.text(i > 0 ? "," : "");
      addSeries(json, one, one.runId);
      await goOn();
    }
    json.text("]}");
  }
  const limits = {
    run_ids: VIEW_RUNS_MAX,
    panels: VIEW_PANELS.max,
    points_per_series: pointsPerSeries,
    max_total_points: VIEW_POINTS_TOTAL_MAX,
    max_response_bytes: VIEW_BYTES_MAX,
  };
  json.text(`],"warnings":${JSON.stringify(warnings)},"limits":${JSON.stringify(limits)}}}`);
  return json.take();
}

/** What is kept of frozen data, which were written by `writeSharedData`. */
type KeptData = {
  readonly view_data: {
    readonly grids: readonly {
      readonly block: number;
      readonly runs: readonly { readonly id: string }[];
      readonly series: readonly { readonly run_id: string }[];
    }[];
  };
};

/** Returns the ids of the runs of data that were kept, each once. */
export function runsOfKept(text: string): string[] {
  const { view_data: data } = JSON.parse(text) as KeptData;
  return [...new Set(data.grids.flatMap(({ runs }) => runs.map(({ id }) => id)))];
}

/** Returns kept data without the runs that are gone. Numbers keep their digits. */
export function keptData(text: string, visible: ReadonlySet<string>): string {
  const kept = parseExact(text) as unknown as KeptData;
  const grids = kept.view_data.grids.map((grid) => ({
    ...grid,
    runs: grid.runs.filter(({ id }) => visible.has(id)),
    series: grid.series.filter(({ run_id: id }) => visible.has(id)),
  }));
  return JSON.stringify({ view_data: { ...kept.view_data, grids } });
}

/** Data of a report for the holders of its link. */
export function encodeSharedData(bytes: Buffer): RouteReply {
  return { body: null, bytes };
}

/** The data of the panels of a report, as they are answered. */
export const sharedDataSchema: Schema = objectSchema({
  view_data: objectSchema({
    schema_version: { const: 1 },
    generated_at: { ...timeSchema, description: "Of frozen data, when they were." },
    grids: listSchema(
      objectSchema({
        block: { ...countSchema, description: "The place of the block in the report, from 0." },
        runs: listSchema(
          objectSchema({
            id: uuidSchema,
            name: textSchema,
            status: textSchema,
            values: {
              type: "object",
              additionalProperties: true,
              description: "By the names of the columns that the panels show.",
            },
          }),
        ),
        metric_keys: listSchema(textSchema),
        series: listSchema(seriesColumnsSchema),
      }),
    ),
    warnings: listSchema(textSchema),
    limits: objectSchema({
      run_ids: countSchema,
      panels: countSchema,
      points_per_series: countSchema,
      max_total_points: countSchema,
      max_response_bytes: countSchema,
    }),
  }),
});
