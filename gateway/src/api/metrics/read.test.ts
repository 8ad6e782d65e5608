import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { ListMetricPointsResponseSchema, QueryMetricSeriesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { RouteReply } from "../../route.ts";
import { decodeListPoints, decodeQuerySeries, encodeListPoints, encodeQuerySeries } from "./read.ts";
import { inputOf } from "../route-input.fixture.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const other = "1c9b8a1e-1111-4222-8333-444455556666";
const textOf = ({ bytes }: RouteReply) => bytes!.toString();
const jsonOf = (reply: RouteReply) => JSON.parse(textOf(reply)) as unknown;

describe("GET /runs/{run_id}/metrics", () => {
  test.each([
    ["nothing", {}, { limit: 1000 }],
    ["a key", { key: " train/loss " }, { key: "train/loss", limit: 1000 }],
    ["bounds", { start_step: "0", end_step: "2.5" }, { startStep: 0, endStep: 2.5, limit: 1000 }],
    ["equal bounds", { start_step: "3", end_step: "3" }, { startStep: 3, endStep: 3, limit: 1000 }],
    ["the largest limit", { limit: "5000" }, { limit: 5000 }],
  ])("with %s is read", (_, query, wanted) => {
    expect(decodeListPoints(inputOf({ query }))).toEqual({
      runId,
      key: undefined,
      startStep: undefined,
      endStep: undefined,
      knownTags: [],
      ...wanted,
    });
  });

  test.each([
    ["a limit of 5001", { limit: "5001" }, "limit"],
    ["a limit that is not a number", { limit: "ten" }, "limit"],
    ["a step that is not a number", { end_step: "x" }, "end_step"],
    ["a step that is not finite", { end_step: "1e999" }, "end_step"],
    ["a start above the end", { start_step: "2", end_step: "1" }, "start_step"],
    ["a key of 513 bytes", { key: "k".repeat(513) }, "key"],
  ])("with %s is sent on as a fault", (_, query, field) => {
    expect(decodeListPoints(inputOf({ query }))).toEqual({
      runId,
      queryFault: { text: expect.any(String), field },
      knownTags: [],
    });
  });

  test("answers with the points of all keys in one list, times where the client sent them", () => {
    const response = create(ListMetricPointsResponseSchema, {
      keys: [
        {
          key: 'a"b',
          points: {
            steps: [0, 1.5],
            values: [-0.1, 1e21],
            createdUs: [1_767_225_600_000_000, 1_767_225_600_250_000],
            timestampsUs: [1_767_225_599_000_001, Number.NaN],
          },
        },
        { key: "c", points: { steps: [2], values: [0], createdUs: [1_767_225_600_000_000] } },
      ],
      truncated: true,
    });
    expect(jsonOf(encodeListPoints(response, decodeListPoints(inputOf({ query: { limit: "3" } }))))).toEqual({
      metrics: [
        {
          key: 'a"b',
          step: 0,
          value: -0.1,
          created_at: "2026-01-01T00:00:00Z",
          timestamp: "2025-12-31T23:59:59.000001Z",
        },
        { key: 'a"b', step: 1.5, value: 1e21, created_at: "2026-01-01T00:00:00.25Z" },
        { key: "c", step: 2, value: 0, created_at: "2026-01-01T00:00:00Z" },
      ],
      limit: 3,
      truncated: true,
    });
  });

  test("answers with an empty list when there is nothing", () => {
    const reply = encodeListPoints(create(ListMetricPointsResponseSchema), decodeListPoints(inputOf({})));
    expect(textOf(reply)).toBe('{"metrics":[],"limit":1000,"truncated":false}');
  });

  test("forwards the tags that the client has, even with a fault", () => {
    const knownTags = ["a", "b"];
    expect(decodeListPoints(inputOf({ knownTags }))).toMatchObject({ knownTags });
    expect(decodeListPoints(inputOf({ knownTags, query: { limit: "0" } }))).toMatchObject({ knownTags });
  });

  test("answers with the tag, and with nothing else when the client has the answer", () => {
    const reply = encodeListPoints(
      create(ListMetricPointsResponseSchema, { tag: "t1" }),
      decodeListPoints(inputOf({})),
    );
    expect(reply.etag).toBe("t1");
    expect(jsonOf(reply)).toMatchObject({ truncated: false });
    const same = create(ListMetricPointsResponseSchema, { tag: "t1", notModified: true });
    expect(encodeListPoints(same, decodeListPoints(inputOf({})))).toEqual({
      body: null,
      etag: "t1",
      notModified: true,
    });
  });

  test("writes numbers as JSON does, with every bit of them", () => {
    const values = [0.1 + 0.2, Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -0];
    const points = { steps: values.map(() => 0), values, createdUs: values.map(() => 0) };
    const response = create(ListMetricPointsResponseSchema, { keys: [{ key: "a", points }] });
    const { metrics } = jsonOf(encodeListPoints(response, decodeListPoints(inputOf({})))) as {
      metrics: { value: number }[];
    };
    expect(metrics.map(({ value }) => value)).toEqual([...values.slice(0, 4), 0]);
  });
});

describe("POST /api/metrics/series", () => {
  const good = { key: "loss", run_ids: [runId] };

  test("is read, ids in lower case", () => {
    const body = {
      ...good,
      run_ids: [runId.toUpperCase(), other, runId],
      limit: 10,
      start_step: 1,
      end_step: 2,
      buckets: 5,
    };
    expect(decodeQuerySeries(inputOf({ body })).message).toEqual({
      keys: ["loss"],
      runIds: [runId, other, runId],
      limit: 10,
      startStep: 1,
      endStep: 2,
      buckets: 5,
      knownTags: [],
    });
  });

  test("leaves a limit above the largest to the service, and answers with what was asked", async () => {
    const body = { ...good, limit: 10_000 };
    expect(decodeQuerySeries(inputOf({ body })).message).toMatchObject({ limit: 10_000 });
    const largest = decodeQuerySeries(inputOf({ body: { ...good, limit: Number.MAX_SAFE_INTEGER } }));
    expect(largest).toMatchObject({ message: { limit: 2 ** 32 - 1 }, limit: Number.MAX_SAFE_INTEGER });
    const response = create(QueryMetricSeriesResponseSchema, {
      series: [{ runId, points: {} }],
      effectiveLimit: 5000,
      totalPointCap: 120_000,
    });
    expect(jsonOf(await encodeQuerySeries(response, decodeQuerySeries(inputOf({ body }))))).toEqual({
      series: [{ run_id: runId, metrics: [], truncated: false, sampled: false }],
      truncated: false,
      requested_limit: 10_000,
      effective_limit: 5000,
      requested_buckets: null,
      effective_buckets: null,
      run_count: 1,
      total_point_cap: 120_000,
    });
  });

  test("carries tags as the other route does", async () => {
    const body = good;
    expect(decodeQuerySeries(inputOf({ body, knownTags: ["*"] })).message).toMatchObject({ knownTags: ["*"] });
    const response = create(QueryMetricSeriesResponseSchema, { series: [{ runId, points: {} }], tag: "t1" });
    const reply = await encodeQuerySeries(response, decodeQuerySeries(inputOf({ body })));
    expect(reply.etag).toBe("t1");
    expect(jsonOf(reply)).toMatchObject({ run_count: 1 });
    const same = create(QueryMetricSeriesResponseSchema, { tag: "t1", notModified: true });
    expect(await encodeQuerySeries(same, decodeQuerySeries(inputOf({ body })))).toEqual({
      body: null,
      etag: "t1",
      notModified: true,
    });
  });

  test("gives ids back as they were written, and says which series are cut or sampled", async () => {
    const body = { key: "loss", run_ids: [runId.toUpperCase(), other], buckets: 9 };
    const points = { steps: [0], values: [1], createdUs: [0] };
    const response = create(QueryMetricSeriesResponseSchema, {
      series: [
        { runId, points, sampled: true },
        { runId: other, points: {}, truncated: true },
      ],
      effectiveLimit: 1000,
      effectiveBuckets: 7,
      totalPointCap: 120_000,
    });
    expect(jsonOf(await encodeQuerySeries(response, decodeQuerySeries(inputOf({ body }))))).toMatchObject({
      series: [
        {
          run_id: runId.toUpperCase(),
          metrics: [{ key: "loss", step: 0, value: 1, created_at: "1970-01-01T00:00:00Z" }],
          truncated: false,
          sampled: true,
        },
        { run_id: other, metrics: [], truncated: true, sampled: false },
      ],
      truncated: true,
      requested_limit: 1000,
      requested_buckets: 9,
      effective_buckets: 7,
      run_count: 2,
    });
  });

  test.each([
    ["a blank key", { ...good, key: " " }, "key"],
    ["an empty list of ids", { ...good, run_ids: [] }, "run_ids"],
    ["2,001 ids", { ...good, run_ids: Array.from({ length: 2001 }, () => runId) }, "run_ids"],
    ["one id instead of a list", { ...good, run_ids: runId }, "run_ids"],
    ["a limit of 0", { ...good, limit: 0 }, "limit"],
    ["a fractional limit", { ...good, limit: 1.5 }, "limit"],
    ["no buckets", { ...good, buckets: 0 }, "buckets"],
    ["4,097 buckets", { ...good, buckets: 4097 }, "buckets"],
    ["a negative step", { ...good, start_step: -1 }, "start_step"],
    ["a start above the end", { ...good, start_step: 2, end_step: 1 }, "start_step"],
  ])("with %s is refused", (_, body, field) => {
    expect(() => decodeQuerySeries(inputOf({ body }))).toThrow(
      expect.objectContaining({ reason: "bad_request", field }),
    );
  });
});
