import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { QueryMetricGroupsResponseSchema, SeriesAxis, SmoothingKind } from "@tidemark/proto/ingest/v1/ingest";
import { bodyOf } from "../response-schema.fixture.ts";
import { inputOf } from "../route-input.fixture.ts";
import { decodeQueryGroups, encodeQueryGroups } from "./groups.ts";

const id = "5b0c0000-0000-4000-8000-00000000000a";
const decode = (body: Record<string, unknown>) => decodeQueryGroups(inputOf({ body }));
const good = { filter: {}, keys: ["loss"], by: ["tags"] };

describe("POST /api/metrics/groups reads", () => {
  test("a filter, and defaults for what is left out", () => {
    const body = { filter: { q: "tag:x", project: "p" }, keys: [" loss "], by: [" config.lr", "tags"] };
    expect(decode(body).message).toEqual({
      runIds: [],
      filter: { q: "tag:x", project: "p" },
      keys: ["loss"],
      by: { names: ["config.lr", "tags"], allBut: false },
      stats: ["mean", "std", "min", "max", "count"],
      buckets: 500,
      startStep: undefined,
      endStep: undefined,
      axis: SeriesAxis.STEP,
      axisKey: "",
      smoothing: undefined,
    });
  });

  test("an axis and a smoothing", () => {
    const body = { ...good, x: "metric:epoch", smoothing: { kind: "mean", parameter: 3 } };
    expect(decode(body).message).toMatchObject({
      axis: SeriesAxis.METRIC,
      axisKey: "epoch",
      smoothing: { kind: SmoothingKind.MEAN, parameter: 3 },
    });
  });

  test.each([
    [
      { q: "tag:x", project: "p" },
      { q: "tag:x", project: "p" },
    ],
    [{ q: "tag:x" }, { q: "tag:x" }],
    [{ project: "p" }, { project: "p" }],
    [{ q: " " }, {}],
  ])("%j next to the other fields as a filter", (beside, filter) => {
    const { filter: _left, ...rest } = good;
    expect(decode({ ...rest, ...beside }).message).toEqual(decode({ ...rest, filter }).message);
  });

  test("runs in lower case, each once, and all keys of configs but some", () => {
    const body = { ...good, filter: null, run_ids: [id, id.toUpperCase()], by: { except: ["config.seed"] } };
    expect(decode({ ...body, stats: ["p50", "p99.9"], buckets: 7, start_step: 1, end_step: 2 }).message).toEqual({
      runIds: [id],
      keys: ["loss"],
      by: { names: ["config.seed"], allBut: true },
      stats: ["p50", "p99.9"],
      buckets: 7,
      startStep: 1,
      endStep: 2,
      axis: SeriesAxis.STEP,
      axisKey: "",
      smoothing: undefined,
    });
  });
});

describe("POST /api/metrics/groups refuses", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`);
  test.each<[string, Record<string, unknown>, string]>([
    ["neither filter nor runs", { filter: null }, "filter"],
    ["both filter and runs", { run_ids: [id] }, "run_ids"],
    ["both q and runs", { filter: null, q: "x", run_ids: [id] }, "run_ids"],
    ["both filter and q", { q: "x" }, "filter"],
    ["both filter and project", { project: "x" }, "filter"],
    ["a q that is not a string", { filter: null, q: 1 }, "q"],
    ["no runs", { filter: null, run_ids: [] }, "run_ids"],
    ["1,001 runs", { filter: null, run_ids: Array(1001).fill(id) }, "run_ids"],
    ["a run without a UUID", { filter: null, run_ids: ["x"] }, "run_ids"],
    ["a filter that is a text", { filter: "q" }, "filter"],
    ["no keys", { keys: null }, "keys"],
    ["an empty list of keys", { keys: [] }, "keys"],
    ["51 keys", { keys: many(51) }, "keys"],
    ["a key twice", { keys: ["a", " a"] }, "keys"],
    ["nothing to group by", { by: null }, "by"],
    ["a text to group by", { by: "tags" }, "by"],
    ["an object without a list", { by: {} }, "by"],
    ["a blank name", { by: [" "] }, "by"],
    ["a name twice", { by: ["tags", "tags "] }, "by"],
    ["21 names", { by: many(21) }, "by"],
    ["21 names that are left out", { by: { except: many(21) } }, "by"],
    ["no statistics", { stats: [] }, "stats"],
    ["11 statistics", { stats: many(11) }, "stats"],
    ["a statistic twice", { stats: ["mean", "mean"] }, "stats"],
    ["a statistic that is not a string", { stats: [50] }, "stats"],
    ["a quantile above 100", { stats: ["p101"] }, "stats"],
    ["no buckets", { buckets: 0 }, "buckets"],
    ["4,097 buckets", { buckets: 4097 }, "buckets"],
    ["a negative step", { start_step: -1 }, "start_step"],
    ["steps that end before they begin", { start_step: 2, end_step: 1 }, "start_step"],
    ["an end that is not a number", { end_step: "x" }, "end_step"],
    ["an unknown axis", { x: "epoch" }, "x"],
    ["a smoothing without an amount", { smoothing: { kind: "mean", parameter: 0 } }, "smoothing"],
  ])("%s", (_what, more, field) => {
    expect(() => decode({ ...good, ...more })).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});

test("values keep their digits; what is missing is null", async () => {
  const numbers = (...columns: number[][]) => columns.map((column) => ({ numbers: column }));
  const message = {
    columns: ["config.lr", "tags"],
    groups: [
      {
        valuesJson: ["0.10", '["a","b"]'],
        runCount: 2,
        series: [
          { key: 'a"b', step: [0, 2], x: [0.5, 8], columns: numbers([1, 2], [0.5, 0]), latest: [2, 0.5], best: [1, 0] },
        ],
      },
      {
        valuesJson: ["", ""],
        runCount: 1,
        series: [{ key: 'a"b', step: [], columns: numbers([], []), latest: [NaN, NaN], best: [NaN, NaN] }],
      },
    ],
    effectiveBuckets: 6,
    bucketWidth: 1.5,
    runCount: 3,
    totalPointCap: 9,
  };
  const request = decode({ ...good, stats: ["mean", "std"], buckets: 7 });
  const reply = await encodeQueryGroups(create(QueryMetricGroupsResponseSchema, message), request);
  expect(reply.bytes!.toString()).toContain('"config.lr":0.10');
  expect(bodyOf(reply, "POST /api/metrics/groups")).toEqual({
    groups: [
      {
        by: { "config.lr": 0.1, tags: ["a", "b"] },
        run_count: 2,
        series: [{ key: 'a"b', columns: { step: [0, 2], x: [0.5, 8], mean: [1, 2], std: [0.5, 0] } }],
        aggregates: [{ key: 'a"b', latest: { mean: 2, std: 0.5 }, best: { mean: 1, std: 0 } }],
      },
      {
        by: { "config.lr": null, tags: null },
        run_count: 1,
        series: [{ key: 'a"b', columns: { step: [], mean: [], std: [] } }],
        aggregates: [{ key: 'a"b', latest: { mean: null, std: null }, best: { mean: null, std: null } }],
      },
    ],
    requested_buckets: 7,
    effective_buckets: 6,
    bucket_width: 1.5,
    run_count: 3,
    total_point_cap: 9,
  });
});
