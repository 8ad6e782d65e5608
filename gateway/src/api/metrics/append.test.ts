import { parseJsonObject } from "@tidemark/documents";
import { describe, expect, test } from "@jest/globals";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { columnsFromParts } from "@tidemark/codecs/metrics";
import { AppendMetricsRequestSchema, AppendMetricsResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { decodeAppendBatch, decodeAppendPoint, encodeAppendMetrics } from "./append.ts";
import { inputOf } from "../route-input.fixture.ts";

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const NONE = Number.NaN;

function plain(request: ReturnType<typeof decodeAppendPoint>) {
  const { columns, bodyFault } = request;
  if (columns === undefined) return { fault: bodyFault };
  const list = (numbers: ArrayLike<number> | undefined) => Array.from(numbers ?? []);
  return {
    keys: columns.keys,
    steps: list(columns.steps),
    timestampsUs: list(columns.timestampsUs),
    values: list(columns.values),
    offsets: list(columns.offsets),
    pointIndexes: list(columns.pointIndexes),
  };
}
const point = (body: object) => plain(decodeAppendPoint(inputOf({ body: body as Record<string, unknown> })));
const batch = (...points: unknown[]) => plain(decodeAppendBatch(inputOf({ body: { points } })));

describe("a point", () => {
  test("becomes columns, keys in order", () => {
    expect(point({ metrics: { b: 2, a: -0.5 }, step: 3.5 })).toEqual({
      keys: ["a", "b"],
      steps: [3.5],
      timestampsUs: [],
      values: [-0.5, 2],
      offsets: [],
      pointIndexes: [],
    });
  });

  test("as the published client sends it is taken", () => {
    const sent = { metrics: { loss: 1 }, step: 0, timestamp: null, preview: false, preview_completion: 0.0 };
    expect(point(sent)).toMatchObject({ keys: ["loss"], steps: [0], values: [1], timestampsUs: [] });
  });

  test("as the published client reports its health, with the time as a fractional step, is taken", () => {
    const metrics = { "system/instantml/queued_events": 3 };
    const sent = { metrics, step: 1_767_225_600.123456, timestamp: "2026-01-01T00:00:00.123456+00:00" };
    expect(point(sent)).toMatchObject({
      steps: [1_767_225_600.123456],
      timestampsUs: [1_767_225_600_123_456],
    });
  });

  test("carries the client's time in microseconds, with any offset", () => {
    const sent = { metrics: { a: 1 }, step: 0, timestamp: "2026-01-01T02:00:00.5+02:00" };
    expect(point(sent)).toMatchObject({ timestampsUs: [1_767_225_600_500_000] });
  });

  test("has its keys trimmed, and of keys that are then equal the last value", () => {
    expect(point({ metrics: { " a ": 1, b: 2, a: 3 }, step: 0 })).toMatchObject({ keys: ["a", "b"], values: [3, 2] });
  });

  test("takes 1,000 keys of 512 bytes", () => {
    const keys = Array.from({ length: 1000 }, (_, i) => String(i).padStart(512, "0"));
    expect(point({ metrics: Object.fromEntries(keys.map((key) => [key, 1])), step: 0 })).toMatchObject({ keys });
  });

  test("has values that are not finite as texts, or as the bare tokens of the body", () => {
    const text = '{"metrics": {"a": NaN, "b": "Infinity", "c": -Infinity, "d": 1}, "step": 0}';
    expect(point(parseJsonObject(Buffer.from(text), false, true))).toMatchObject({
      values: [NaN, Infinity, -Infinity, 1],
    });
  });

  const good = { metrics: { a: 1 }, step: 0 };
  test.each([
    ["a bare token as step", parseJsonObject(Buffer.from('{"metrics":{"a":1},"step":NaN}'), false, true), "step"],
    ["a number beyond a double", JSON.parse('{"metrics":{"a":1e999},"step":0}') as object, "metrics"],
    ["a text that is nearly one", { ...good, metrics: { a: "nan" } }, "metrics"],
    ["no metrics", { step: 0 }, "metrics"],
    ["null as metrics", { ...good, metrics: null }, "metrics"],
    ["a list as metrics", { ...good, metrics: [1] }, "metrics"],
    ["a number as metrics", { ...good, metrics: 1 }, "metrics"],
    ["no key", { ...good, metrics: {} }, "metrics"],
    ["a text as value", { ...good, metrics: { a: "1" } }, "metrics"],
    ["a list as value", { ...good, metrics: { a: [1] } }, "metrics"],
    ["one bad value among good ones", { ...good, metrics: { a: 1, b: "x", c: 3 } }, "metrics"],
    ["1,001 keys", { ...good, metrics: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [i, 1])) }, "metrics"],
    ["a key with half a surrogate pair", { ...good, metrics: { "a\ud800": 1 } }, "metrics key"],
    ["a truth value as step", { ...good, step: false }, "step"],
    ["a step beyond a double", { ...good, step: Infinity }, "step"],
  ])("with %s is sent on as a fault, with no columns", (_, body, field) => {
    expect(point(body)).toEqual({ fault: { text: expect.any(String), field } });
  });
});

describe("a batch", () => {
  test("becomes columns with the points in the order sent", () => {
    expect(batch({ metrics: { a: 1 }, step: 2 }, { metrics: { a: 3, b: 4 }, step: 1 })).toEqual({
      keys: ["a", "b"],
      steps: [2, 1],
      timestampsUs: [],
      values: [1, 3, 4],
      offsets: [0, 2, 3],
      pointIndexes: [0, 1, 1],
    });
  });

  test("takes 500 points of 1,000 keys", () => {
    const metrics = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
    const { values } = batch(...Array.from({ length: 500 }, (_, step) => ({ metrics, step }))) as { values: number[] };
    expect(values).toHaveLength(500_000);
  });

  test("has a time only where a point has one", () => {
    const timed = { metrics: { a: 1 }, step: 0, timestamp: "2026-01-01T00:00:00Z" };
    expect(batch(timed, { metrics: { a: 2 }, step: 1 })).toMatchObject({ timestampsUs: [1_767_225_600_000_000, NONE] });
  });

  const good = { metrics: { a: 1 }, step: 0 };
  test.each([
    ["no points", { points: [] }, "points must have 1 to 500 items"],
    ["501 points", { points: Array.from({ length: 501 }, () => good) }, "points must have 1 to 500 items"],
    ["no list", { points: good }, "points must be a list"],
    ["nothing", {}, "points is required"],
    ["a point that is not an object", { points: [good, 1] }, "points[1]: must be an object"],
    ["a point without a step", { points: [good, { metrics: { a: 1 } }] }, "points[1]: step is required"],
    [
      "a value that is not a number",
      { points: [good, good, { metrics: { b: "x" }, step: 1 }] },
      'points[2]: metrics: the value of "b" is not a number within double range',
    ],
    ["a blank key", { points: [{ metrics: { " ": 1 }, step: 1 }] }, "points[0]: metrics key must not be empty"],
  ])("with %s is sent on as a fault, whole", (_, body, text) => {
    expect(plain(decodeAppendBatch(inputOf({ body })))).toEqual({ fault: { text, field: "points" } });
  });
});

test("the message survives the way to another process", () => {
  const points = [
    { metrics: { a: 1, b: 2 }, step: 0, timestamp: "2026-01-01T00:00:00Z" },
    { metrics: { b: -0.1 }, step: 1e300 },
  ];
  const request = decodeAppendBatch(inputOf({ body: { points }, idempotencyKey: "k" }));
  const bytes = toBinary(AppendMetricsRequestSchema, create(AppendMetricsRequestSchema, request));
  const received = fromBinary(AppendMetricsRequestSchema, bytes);
  expect(received).toMatchObject({ runId, idempotencyKey: "k", batch: true });
  expect({ ...columnsFromParts(received.columns!) }).toEqual({ ...columnsFromParts(request.columns as never) });
});

test("the two routes are distinguished, and a request without a key has none", () => {
  const body = { metrics: { a: 1 }, step: 0 };
  expect(decodeAppendPoint(inputOf({ body }))).toMatchObject({ runId, idempotencyKey: "" });
  expect(decodeAppendPoint(inputOf({ body })).batch ?? false).toBe(false);
  expect(decodeAppendBatch(inputOf({ body: { points: [body] } })).batch).toBe(true);
});

test("the answer counts the values, and says whether it was given before", () => {
  const response = create(AppendMetricsResponseSchema, { inserted: 6, replayed: true });
  expect(encodeAppendMetrics(response)).toEqual({ body: { inserted: 6 }, replayed: true });
});
