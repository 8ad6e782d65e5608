import { describe, expect, test } from "@jest/globals";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  AppendRankMetricsRequestSchema,
  AppendRankMetricsResponseSchema,
  SummariseRankMetricsResponseSchema,
} from "@tidemark/proto/ingest/v1/rank_metrics";
import { writeJson } from "../../http/json.ts";
import {
  decodeAppendRankMetrics,
  decodeSummariseRankMetrics,
  encodeAppendRankMetrics,
  encodeSummariseRankMetrics,
} from "./rank-metrics.ts";
import { inputOf } from "../route-input.fixture.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const decode = (body: object) => decodeAppendRankMetrics(inputOf({ body: body as Record<string, unknown> }));
const good = { metrics: { loss: 1 }, step: 0, rank: 1, world_size: 4 };

describe("a report of a rank", () => {
  test("becomes a message, keys in order, with what was left out at its default", () => {
    const body = { metrics: { b: 2, " a ": -0.5 }, step: 3.5, rank: 1, world_size: 4 };
    expect(decode(body)).toEqual({
      runId,
      idempotencyKey: "",
      keys: ["a", "b"],
      values: Float64Array.of(-0.5, 2),
      step: 3.5,
      rank: 1,
      worldSize: 4,
      localRank: 1,
      weight: 1,
    });
  });

  test("as the published client sends it is taken", () => {
    const timestamp = "2026-01-01T00:00:00.123456+00:00";
    expect(decode({ ...good, local_rank: 0, weight: 1.0, timestamp })).toMatchObject({
      rank: 1,
      localRank: 0,
      weight: 1,
      timestampUs: 1_767_225_600_123_456,
    });
  });

  test.each<[string, object, object]>([
    ["null as local rank and weight", { local_rank: null, weight: null, timestamp: null }, { localRank: 1, weight: 1 }],
    [
      "the last rank of the largest world",
      { rank: 511, world_size: 512 },
      { rank: 511, localRank: 511, worldSize: 512 },
    ],
    ["the only rank", { rank: 0, world_size: 1 }, { rank: 0, worldSize: 1 }],
    ["another local rank", { local_rank: 3 }, { localRank: 3 }],
    ["the least weight", { weight: 5e-324 }, { weight: 5e-324 }],
    ["a huge weight", { weight: 1e308 }, { weight: 1e308 }],
    ["whole numbers with a point", { rank: 2.0, world_size: 8.0 }, { rank: 2, worldSize: 8 }],
    ["an unknown field", { device: "cuda:1" }, { rank: 1 }],
  ])("with %s is taken", (_, change, expected) => {
    const { bodyFault, ...request } = decode({ ...good, ...change });
    expect(bodyFault).toBeUndefined();
    expect(request).toMatchObject(expected);
  });

  test.each<[string, object, string]>([
    ["null as rank", { ...good, rank: null }, "rank"],
    ["a truth value as rank", { ...good, rank: true }, "rank"],
    ["a negative rank", { ...good, rank: -1 }, "rank"],
    ["a rank as large as its world", { ...good, rank: 4 }, "rank"],
    ["null as world size", { ...good, world_size: null }, "world_size"],
    ["a world of 0", { ...good, rank: 0, world_size: 0 }, "world_size"],
    ["a world of 513", { ...good, world_size: 513 }, "world_size"],
    ["a fractional world size", { ...good, world_size: 4.5 }, "world_size"],
    ["a text as world size", { ...good, world_size: "4" }, "world_size"],
    ["a negative local rank", { ...good, local_rank: -1 }, "local_rank"],
    ["a fractional local rank", { ...good, local_rank: 0.5 }, "local_rank"],
    ["a local rank as large as its world", { ...good, local_rank: 4 }, "local_rank"],
    ["a text as local rank", { ...good, local_rank: "0" }, "local_rank"],
    ["a weight of 0", { ...good, weight: 0 }, "weight"],
    ["a weight of -0", { ...good, weight: -0 }, "weight"],
    ["a negative weight", { ...good, weight: -1 }, "weight"],
    ["a weight beyond a double", { ...good, weight: Infinity }, "weight"],
    ["a text as weight", { ...good, weight: "1" }, "weight"],
    ["a truth value as weight", { ...good, weight: true }, "weight"],
  ])("with %s is sent on as a fault, and with nothing else", (_, body, field) => {
    expect(decode(body)).toEqual({ runId, idempotencyKey: "", bodyFault: { text: expect.any(String), field } });
  });

  test("survives the way to another process", () => {
    const request = decodeAppendRankMetrics(inputOf({ body: { ...good, weight: 0.25 }, idempotencyKey: "k" }));
    const bytes = toBinary(AppendRankMetricsRequestSchema, create(AppendRankMetricsRequestSchema, request));
    expect(fromBinary(AppendRankMetricsRequestSchema, bytes)).toMatchObject({
      runId,
      idempotencyKey: "k",
      keys: ["loss"],
      values: [1],
      rank: 1,
      worldSize: 4,
      weight: 0.25,
    });
  });

  test("is answered with the number of values, and whether it was given before", () => {
    const response = create(AppendRankMetricsResponseSchema, { inserted: 6, replayed: true });
    expect(encodeAppendRankMetrics(response)).toEqual({ body: { inserted: 6 }, replayed: true });
  });
});

describe("a query of a summary", () => {
  const query = (fields: Record<string, string>) => decodeSummariseRankMetrics(inputOf({ query: fields }));

  test("has defaults", () => {
    expect(query({})).toEqual({ runId, limit: 1000 });
  });

  test.each<[string, Record<string, string>, object]>([
    [
      "all of it",
      { key: " loss ", start_step: "1.5", end_step: "2e3", limit: "5000" },
      { key: "loss", startStep: 1.5, endStep: 2000, limit: 5000 },
    ],
    ["a blank key", { key: "  " }, { key: undefined, limit: 1000 }],
    ["one step", { start_step: "3", end_step: "3" }, { startStep: 3, endStep: 3 }],
    ["the least limit", { limit: "1" }, { limit: 1 }],
  ])("with %s is taken", (_, fields, expected) => {
    const { queryFault, ...request } = query(fields);
    expect(queryFault).toBeUndefined();
    expect(request).toMatchObject(expected);
  });

  test.each<[Record<string, string>, string]>([
    [{ limit: "5001" }, "limit"],
    [{ limit: "1.5" }, "limit"],
    [{ start_step: "NaN" }, "start_step"],
    [{ end_step: "-0.5" }, "end_step"],
    [{ key: "k".repeat(513) }, "key"],
    [{ key: "a\0" }, "key"],
  ])("%j is sent on as a fault", (fields, field) => {
    expect(query(fields)).toEqual({ runId, queryFault: { text: expect.any(String), field } });
  });
});

describe("a summary", () => {
  const encode = (
    response: Parameters<typeof create<typeof SummariseRankMetricsResponseSchema>>[1],
    limit = "1000",
  ) => {
    const message = create(SummariseRankMetricsResponseSchema, response);
    const { body } = encodeSummariseRankMetrics(message, decodeSummariseRankMetrics(inputOf({ query: { limit } })));
    return JSON.parse(writeJson(body)) as Record<string, unknown>;
  };
  const limits = {
    step_limit: 1000,
    max_world_size: 512,
    max_canonical_rows: 65_536,
    max_heatmap_cells: 16_384,
    outlier_limit: 20,
  };

  test("has every field", () => {
    const cells = { steps: [4, 4], ranks: [0, 2], values: [1, 3], deltasFromMean: [-1, 1] };
    const answer = encode({
      keys: ["loss"],
      key: "loss",
      steps: {
        steps: [4],
        rankCounts: [2],
        expectedWorldSizes: [4],
        worldSizeMismatches: [true],
        means: [2],
        weightedMeans: [2.5],
        mins: [1],
        maxs: [3],
        stddevs: [1],
        p05s: [1],
        p50s: [3],
        p95s: [3],
        missingRanks: [1, 3],
      },
      heatmap: cells,
      outliers: cells,
      outlierZScores: [-1, 1],
      stepLimit: 1000,
      heatmapTruncated: true,
      outliersTruncated: true,
    });
    const coverage = { step: 4, rank_count: 2, expected_world_size: 4, world_size_mismatch: true };
    expect(answer).toEqual({
      keys: ["loss"],
      key: "loss",
      reducers: [{ ...coverage, mean: 2, weighted_mean: 2.5, min: 1, max: 3, stddev: 1, p05: 1, p50: 3, p95: 3 }],
      heatmap: [
        { step: 4, rank: 0, value: 1, delta_from_mean: -1 },
        { step: 4, rank: 2, value: 3, delta_from_mean: 1 },
      ],
      outliers: [
        { rank: 0, step: 4, value: 1, delta_from_mean: -1, z_score: -1 },
        { rank: 2, step: 4, value: 3, delta_from_mean: 1, z_score: 1 },
      ],
      coverage: [{ ...coverage, missing_rank_count: 2, missing_ranks: [1, 3] }],
      limits,
      truncated: { steps: false, heatmap: true, outliers: true },
    });
  });

  test("gives each step its missing ranks, and none where too many ranks are expected to name them", () => {
    const columns = {
      steps: [0, 1, 2],
      rankCounts: [1, 1, 3],
      expectedWorldSizes: [3, 129, 4],
      missingRanks: [0, 2, 1],
    };
    const { coverage } = encode({ stepLimit: 9, steps: columns, heatmap: {}, outliers: {} });
    expect(coverage).toMatchObject([
      { missing_rank_count: 2, missing_ranks: [0, 2] },
      { missing_rank_count: 128, missing_ranks: [] },
      { missing_rank_count: 1, missing_ranks: [1] },
    ]);
  });

  test("says that steps were left out only where the limit was lowered", () => {
    const empty = { steps: {}, heatmap: {}, outliers: {} };
    expect(encode({ ...empty, stepLimit: 128 })).toMatchObject({
      limits: { step_limit: 128 },
      truncated: { steps: true },
    });
    expect(encode({ ...empty, stepLimit: 128 }, "128")).toMatchObject({ truncated: { steps: false } });
  });

  test("writes numbers at the ends of their range as JSON, and null for a distance beyond it", () => {
    const cells = { steps: [1e300], ranks: [0], values: [-1.7e308], deltasFromMean: [-Infinity] };
    const answer = encode({ stepLimit: 9, steps: {}, heatmap: cells, outliers: cells, outlierZScores: [-1.7] });
    expect(answer["heatmap"]).toEqual([{ step: 1e300, rank: 0, value: -1.7e308, delta_from_mean: null }]);
    expect(answer["outliers"]).toMatchObject([{ delta_from_mean: null, z_score: -1.7 }]);
  });
});
