import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { GROUP_NAMES_MAX, GROUP_STAT_SHAPE, GROUP_STATS_MAX, RUNS_PAGE_ROWS, SERIES_KEYS_MAX } from "@tidemark/limits";
import type {
  GroupSeries,
  QueryMetricGroupsRequestSchema,
  QueryMetricGroupsResponse,
} from "@tidemark/proto/ingest/v1/ingest";
import { createPauses } from "@tidemark/work";
import { createJsonBytes, type JsonBytes } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  checked,
  described,
  isObject,
  join,
  list,
  object,
  optional,
  required,
  someOf,
  withDefault,
  type Field,
} from "../fields/field.ts";
import { integer, stepRange } from "../fields/number.ts";
import { maybeBlankText, searchText, text, uuid } from "../fields/text.ts";
import { chartAxis, smoothingField, SMOOTHING_WORDS, STEPS } from "./columns.ts";
import { bodyFilter, requireOneChoice } from "../runs/body-filter.ts";
import { readFilter } from "../runs/list.ts";
import { countSchema, listSchema, numberOrNullSchema, numberSchema, objectSchema } from "../replies.ts";

const STATS_DEFAULT = ["mean", "std", "min", "max", "count"];
const BUCKETS = { min: 1, max: 4096, default: 500 };

/** A name has at most the bytes of a column. */
const columnNames = list(text({ bytesMax: 600 }), { itemsMax: GROUP_NAMES_MAX });

type GroupBy = { readonly names: string[]; readonly allBut: boolean };

const groupBy: Field<GroupBy> = required(
  {
    anyOf: [
      { ...columnNames.schema, uniqueItems: true },
      { type: "object", required: ["except"], properties: { except: { ...columnNames.schema, uniqueItems: true } } },
    ],
    description:
      "Names of columns: `config.<path>` as in GET /api/runs/summary, and `tags`, the sorted set of the tags. None: all runs are one group. " +
      'Or `{"except": ["config.<path>"]}`: all keys of the configs, nested ones joined by points, but these and those below them; at most 1,000 keys, of at most 512 bytes.',
  },
  (value, name) => {
    const allBut = isObject(value);
    const sent = allBut ? value["except"] : value;
    if (!Array.isArray(sent)) throw badRequest(`${name} must be a list, or an object with the list except`, name);
    const names = columnNames.check(sent, name);
    if (new Set(names).size < names.length) throw badRequest(`${name} must have different names`, name);
    return { names, allBut };
  },
);

const statistic: Field<string> = required({ type: "string", pattern: GROUP_STAT_SHAPE.source }, (value, name) => {
  if (typeof value === "string" && GROUP_STAT_SHAPE.test(value)) return value;
  throw badRequest(`${name} must be mean, std, min, max, count, or a quantile from p0 to p100`, name);
});

/** Body of POST /api/metrics/groups. */
export const queryGroupsBody = checked(
  join(
    object({
      filter: optional(bodyFilter),
      q: described(optional(searchText()), "A search, as a filter that has it."),
      project: described(optional(maybeBlankText()), "A project, as a filter that has it; goes together with q."),
      run_ids: described(
        optional(list(uuid(), { itemsMin: 1, itemsMax: RUNS_PAGE_ROWS.max })),
        "Instead of a filter, which lets at most 1,000 runs through.",
      ),
      keys: described(list(text(), { itemsMin: 1, itemsMax: SERIES_KEYS_MAX }), "Different keys.", {
        uniqueItems: true,
      }),
      by: groupBy,
      stats: described(
        withDefault(list(statistic, { itemsMin: 1, itemsMax: GROUP_STATS_MAX }), STATS_DEFAULT, {
          default: STATS_DEFAULT,
        }),
        "The columns: mean, std (standard deviation of the population), min, max, count, and quantiles like p50 and p99.9, by linear interpolation between the " +
          "two values around the place (n - 1) p, from 0 on (Hyndman and Fan, type 7).",
        { uniqueItems: true },
      ),
      buckets: described(
        withDefault(integer(BUCKETS), BUCKETS.default, { default: BUCKETS.default }),
        "Parts of equal width of the range of all series on the axis, or of the bounds. Fewer where groups times keys have more than 120,000 of them, or runs times keys more " +
          "than 600,000 (`effective_buckets`). Where the range has fewer whole steps, each of these begins a part.",
      ),
      x: withDefault(chartAxis, STEPS, { default: "step" }),
      smoothing: described(
        optional(smoothingField),
        `The statistics are those of the smoothed values of the runs, which are calculated from all points; a bucket has their means. ${SMOOTHING_WORDS}`,
      ),
    }),
    stepRange,
  ),
  (value) => {
    requireOneChoice({ filter: filterOf(value), runIds: value.runIds });
    for (const name of ["keys", "stats"] as const)
      if (new Set(value[name]).size < value[name].length) throw badRequest(`${name} must be different`, name);
  },
  { oneOf: [someOf("filter"), someOf("q", "project"), someOf("run_ids")] },
);

type Selection = {
  readonly filter: ReturnType<typeof readFilter> | undefined;
  readonly q: string | undefined;
  readonly project: string | undefined;
};

/** Returns the filter that a body has, as an object or as its two most common parts; undefined for none. @throws bad_request */
function filterOf({ filter, q, project }: Selection): Selection["filter"] {
  if (q === undefined && project === undefined) return filter;
  if (filter !== undefined) throw badRequest("filter and q with project exclude each other", "filter");
  const parts = Object.entries({ q, project }).filter(([, part]) => part !== undefined && part !== "");
  return readFilter(Object.fromEntries(parts) as Record<string, string>);
}

/** The client's request, and the message that passes it to the service. */
type GroupsRequest = {
  readonly message: MessageInitShape<typeof QueryMetricGroupsRequestSchema> & { readonly stats: string[] };
  readonly buckets: number;
};

/** POST /api/metrics/groups. @throws bad_request */
export function decodeQueryGroups({ body }: RouteInput): GroupsRequest {
  const { filter: whole, q, project, runIds, x, ...asked } = queryGroupsBody.read(body);
  const filter = filterOf({ filter: whole, q, project });
  return {
    message: { ...asked, ...x, runIds: [...new Set(runIds ?? [])], ...(filter === undefined ? {} : { filter }) },
    buckets: asked.buckets,
  };
}

/** `{groups: [{by, run_count, series, aggregates}], …}`, written in turns. */
export async function encodeQueryGroups(
  response: QueryMetricGroupsResponse,
  { message, buckets }: GroupsRequest,
): Promise<RouteReply> {
  const { stats } = message;
  const json = createJsonBytes(64 * 1024);
  const pauseIfLong = createPauses();
  json.text('{"groups":[');
  for (const [g, { valuesJson, runCount, series }] of response.groups.entries()) {
    const by = response.columns.map((name, i) => `${JSON.stringify(name)}:${valuesJson[i] || "null"}`);
    json.text(`${g > 0 ? "," : ""}{"by":{${by.join(",")}},"run_count":${runCount},"series":[`);
    for (const [k, one] of series.entries()) {
      addSeries(json, stats, one, k > 0);
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
    const aggregates = series.map(
      ({ key, latest, best }) =>
        `{"key":${JSON.stringify(key)},"latest":${statsJson(stats, latest)},"best":${statsJson(stats, best)}}`,
    );
    json.text(`],"aggregates":[${aggregates.join(",")}]}`);
  }
  const { effectiveBuckets, bucketWidth, runCount, totalPointCap } = response;
  json.text(
    `],"requested_buckets":${buckets},"effective_buckets":${effectiveBuckets},"bucket_width":${bucketWidth},"run_count":${runCount},"total_point_cap":${totalPointCap}}`,
  );
  return { body: null, bytes: json.take() };
}

function addSeries(
  json: JsonBytes,
  stats: readonly string[],
  { key, step, x, columns }: GroupSeries,
  isNext: boolean,
): void {
  json.text(`${isNext ? "," : ""}{"key":${JSON.stringify(key)},"columns":{"step":`);
  json.numbers(step);
  if (x.length > 0) {
    json.text(',"x":');
    json.numbers(x);
  }
  stats.forEach((name, i) => {
    json.text(`,"${name}":`);
    json.numbers(columns[i]!.numbers);
  });
  json.text("}}");
}

/** JSON writes what is not a number as null. */
function statsJson(stats: readonly string[], numbers: readonly number[]): string {
  return JSON.stringify(Object.fromEntries(stats.map((name, i) => [name, numbers[i]!])));
}

const statisticsSchema = (description: string): Schema => ({
  type: "object",
  additionalProperties: numberOrNullSchema,
  description,
});

/** Answer of POST /api/metrics/groups. */
export const queryGroupsSchema: Schema = objectSchema({
  groups: {
    type: "array",
    description:
      "The group with the most runs first; among equals by value, column by column: numbers in ascending order, then all else by its JSON, then null.",
    items: objectSchema({
      by: {
        type: "object",
        additionalProperties: true,
        description: "The value of each column that the runs are grouped by; null where they have none.",
      },
      run_count: { ...countSchema, description: "Runs of the group." },
      series: {
        type: "array",
        description: "In the order of the keys.",
        items: objectSchema({
          key: { type: "string" },
          columns: {
            type: "object",
            description:
              "All of one length: step, where a bucket begins (with another axis, the lowest of the steps at which its runs begin, and x, where it begins there), and one for each of the statistics, over the means of the runs that have points in the bucket. Buckets without are left out.",
            required: ["step"],
            properties: { step: listSchema(numberSchema), x: listSchema(numberSchema) },
            additionalProperties: listSchema(numberSchema),
          },
        }),
      },
      aggregates: {
        type: "array",
        description:
          "In the order of the keys: the statistics over all the points of the runs, regardless of the bounds of steps; null where no run has the key.",
        items: objectSchema({
          key: { type: "string" },
          latest: statisticsSchema("Of the latest values of the runs."),
          best: statisticsSchema("Of the best values: the highest, or the lowest of keys that are to be minimized."),
        }),
      },
    }),
  },
  requested_buckets: { type: "integer" },
  effective_buckets: { type: "integer" },
  bucket_width: { type: "number", description: "What a bucket covers of the axis; 0 where there are no points." },
  run_count: { ...countSchema, description: "Runs that the filter lets through, or that were named." },
  total_point_cap: { type: "integer" },
});
