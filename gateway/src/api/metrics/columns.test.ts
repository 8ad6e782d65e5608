import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { QuerySeriesColumnsResponseSchema, SeriesAxis, SmoothingKind } from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput } from "../../route.ts";
import { decodeSeriesColumns, encodeSeriesColumns } from "./columns.ts";

const RUN = "0C9B0000-0000-4000-8000-000000000001";
const decode = (more: object) =>
  decodeSeriesColumns({
    body: { format: "columns", run_ids: [RUN], ...more },
    knownTags: ["t"],
  } as unknown as RouteInput);

describe("a request of columns", () => {
  test("has defaults for what is left out", () => {
    expect(decode({ key: " loss " }).message).toEqual({
      keys: ["loss"],
      runIds: [RUN.toLowerCase()],
      startStep: undefined,
      endStep: undefined,
      afterStep: undefined,
      limit: 1000,
      buckets: undefined,
      edges: false,
      sharedGrid: false,
      axis: SeriesAxis.STEP,
      axisKey: "",
      smoothing: undefined,
      lineage: false,
      knownTags: ["t"],
    });
  });

  test.each([
    ["time", SeriesAxis.TIME, ""],
    ["relative", SeriesAxis.RELATIVE, ""],
    ["metric: epoch ", SeriesAxis.METRIC, "epoch"],
    ["metric:metric:a", SeriesAxis.METRIC, "metric:a"],
  ])("x %s is read", (x, axis, axisKey) => {
    expect(decode({ key: "a", x }).message).toMatchObject({ axis, axisKey });
  });

  test.each([
    [{ kind: "ema", parameter: 0 }, SmoothingKind.EMA],
    [{ kind: "gaussian", parameter: 0.5 }, SmoothingKind.GAUSSIAN],
    [{ kind: "mean", parameter: 1e9 }, SmoothingKind.MEAN],
  ])("smoothing %j is read", (smoothing, kind) => {
    expect(decode({ key: "a", smoothing }).message).toMatchObject({
      smoothing: { kind, parameter: smoothing.parameter },
    });
  });

  test.each([
    [{ kind: "ema", parameter: 1 }, "smoothing: parameter of ema must be from 0 to below 1"],
    [{ kind: "mean", parameter: 0 }, "smoothing: parameter of mean must be above 0"],
    [{ kind: "none", parameter: 1 }, "smoothing: kind must be one of ema, gaussian, mean"],
    ["ema", "smoothing must be an object"],
  ])("smoothing %j is refused in words", (smoothing, message) => {
    expect(() => decode({ key: "a", smoothing })).toThrow(expect.objectContaining({ message, field: "smoothing" }));
  });
});

test("columns are written as JSON.stringify writes them, ids as they were sent", async () => {
  const series = { runId: RUN.toLowerCase(), key: 'a"b', step: [1], value: [2], time: [3], x: [4] };
  const response = create(QuerySeriesColumnsResponseSchema, {
    series: [series],
    effectiveLimit: 5,
    totalPointCap: 9,
    tag: "t",
  });
  const reply = await encodeSeriesColumns(response, decode({ key: "a", buckets: 7 }));
  expect(reply.etag).toBe("t");
  expect(JSON.parse(reply.bytes!.toString())).toEqual({
    format: "columns",
    series: [
      {
        run_id: RUN,
        key: 'a"b',
        columns: { step: [1], value: [2], time: [3], x: [4] },
        truncated: false,
        sampled: false,
      },
    ],
    truncated: false,
    requested_limit: 1000,
    effective_limit: 5,
    requested_buckets: 7,
    effective_buckets: null,
    run_count: 1,
    total_point_cap: 9,
  });
});

test("values that are not finite are texts in raw columns, and counted in buckets, whose other columns are null there", async () => {
  const series = [
    { key: "a", sampled: false, step: [1, 2], value: [NaN, -Infinity], time: [3, 4], smoothed: [NaN, 1] },
    {
      key: "a",
      sampled: true,
      step: [0, 5],
      ...Object.fromEntries(["min", "max", "mean", "first", "last"].map((name) => [name, [2, NaN]])),
      count: [1, 0],
      nonFinite: [0, 2],
    },
  ];
  const reply = await encodeSeriesColumns(create(QuerySeriesColumnsResponseSchema, { series }), decode({ key: "a" }));
  const { series: shown } = JSON.parse(reply.bytes!.toString()) as { series: { columns: unknown }[] };
  const values = [2, null];
  expect(shown.map(({ columns }) => columns)).toEqual([
    { step: [1, 2], value: ["NaN", "-Infinity"], time: [3, 4], smoothed: [null, 1] },
    {
      step: [0, 5],
      min: values,
      max: values,
      mean: values,
      count: [1, 0],
      first: values,
      last: values,
      non_finite: [0, 2],
    },
  ]);
});
