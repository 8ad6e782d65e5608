import { describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";

import { createColumnsBuilder } from "./columns-builder.ts";
import { anyPoints, columnsOf, type Point } from "./metric-columns.fixture.ts";
import { checkColumns, type MetricColumns } from "./metric-columns.ts";
import { compareKeyBytes } from "./keys.ts";

/** Returns every value of the columns as [key, point, value], by walking the columns as documented. */
function entriesOf(columns: MetricColumns): [string, number, number][] {
  const points = columns.steps.length;
  return columns.keys.flatMap((key, k) => {
    const dense = columns.offsets.length === 0;
    const [from, to] = dense ? [k * points, (k + 1) * points] : [columns.offsets[k]!, columns.offsets[k + 1]!];
    return Array.from({ length: to - from }, (_, i): [string, number, number] => [
      key,
      dense ? i : columns.pointIndexes[from + i]!,
      columns.values[from + i]!,
    ]);
  });
}

/** Returns the same from the points themselves. */
function entriesOfPoints(points: readonly Point[]): [string, number, number][] {
  return points
    .flatMap(({ metrics }, point) =>
      Object.entries(metrics).map(([key, value]): [string, number, number] => [key, point, value]),
    )
    .sort(([a, p], [b, q]) => compareKeyBytes(a, b) || p - q);
}

describe("building columns", () => {
  test("a batch whose points all have the same keys is dense, in any order", () => {
    const columns = columnsOf([
      { metrics: { loss: 3, acc: 0.1 }, step: 0, timestampUs: null },
      { metrics: { acc: 0.2, loss: 2 }, step: 1, timestampUs: null },
      { metrics: { acc: 0.3, loss: 1 }, step: 2, timestampUs: null },
    ]);
    expect(columns).toEqual({
      keys: ["acc", "loss"],
      steps: Float64Array.of(0, 1, 2),
      timestampsUs: new Float64Array(0),
      offsets: new Uint32Array(0),
      pointIndexes: new Uint32Array(0),
      values: Float64Array.of(0.1, 0.2, 0.3, 3, 2, 1),
    });
  });

  test("a key that is missing at some point makes the batch sparse", () => {
    const columns = columnsOf([
      { metrics: { loss: 3 }, step: 0, timestampUs: null },
      { metrics: { loss: 2, acc: 0.2 }, step: 1, timestampUs: 7 },
      { metrics: { loss: 1 }, step: 2, timestampUs: null },
    ]);
    expect(columns).toEqual({
      keys: ["acc", "loss"],
      steps: Float64Array.of(0, 1, 2),
      timestampsUs: Float64Array.of(NaN, 7, NaN),
      offsets: Uint32Array.of(0, 1, 4),
      pointIndexes: Uint32Array.of(1, 0, 1, 2),
      values: Float64Array.of(0.2, 3, 2, 1),
    });
  });

  test("no points make empty columns", () => {
    expect(entriesOf(columnsOf([]))).toEqual([]);
  });

  test("an object without keys adds no point", () => {
    const builder = createColumnsBuilder();
    expect(builder.addPoint({}, 1, null)).toBe(0);
    expect(builder.pointCount()).toBe(0);
    expect(builder.addPoint({ loss: 1 }, 1, null)).toBe(1);
    expect(builder.pointCount()).toBe(1);
    expect(builder.valueCount()).toBe(1);
  });

  test.each<[string, unknown]>([
    ["a text", "1"],
    ["null", null],
    ["a boolean", true],
    ["an object", {}],
    ["NaN", NaN],
    ["a number beyond double range", Infinity],
    ["a number beyond double range below zero", -Infinity],
    ["nothing", undefined],
  ])("%s is not a metric value: the key is named and the batch cannot be built", (_, value) => {
    const builder = createColumnsBuilder();
    builder.addPoint({ good: 1 }, 0, null);
    expect(builder.addPoint({ good: 1, bad: value, worse: value }, 1, null)).toBe(-1);
    expect(builder.faultyKey()).toBe("bad");
    expect(() => builder.build()).toThrow(expect.objectContaining({ name: "CodecError" }));
  });

  test("what else is a value, an option says", () => {
    const builder = createColumnsBuilder({ readOther: (sent) => (sent === "NaN" ? NaN : undefined) });
    expect(builder.addPoint({ a: "NaN", b: 1 }, 0, null)).toBe(2);
    expect([...builder.build().values]).toEqual([NaN, 1]);
    expect(builder.addPoint({ a: "Infinity" }, 1, null)).toBe(-1);
  });

  test("a valid batch has no faulty key", () => {
    const builder = createColumnsBuilder();
    builder.addPoint({ a: -0, b: Number.MAX_VALUE, c: Number.MIN_VALUE }, 0, null);
    expect(builder.faultyKey()).toBeNull();
    expect(Object.is(builder.build().values[0], -0)).toBe(true);
  });

  test("__proto__ and numbers are keys like any other", () => {
    const metrics = JSON.parse('{"__proto__": 1, "10": 2, "9": 3, "constructor": 4}') as Record<string, unknown>;
    const builder = createColumnsBuilder();
    expect(builder.addPoint(metrics, 0, null)).toBe(4);
    expect(entriesOf(builder.build())).toEqual([
      ["10", 0, 2],
      ["9", 0, 3],
      ["__proto__", 0, 1],
      ["constructor", 0, 4],
    ]);
  });

  test("any batch keeps every value at its key and point", () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const columns = columnsOf(points);
        checkColumns(columns);
        expect(entriesOf(columns)).toEqual(entriesOfPoints(points));
        expect([...columns.steps]).toEqual(points.map((point) => point.step));
        const times = points.map((point) => point.timestampUs ?? NaN);
        expect([...columns.timestampsUs]).toEqual(times.every(Number.isNaN) ? [] : times);
        const everywhere = columns.keys.every((key) => points.every((point) => key in point.metrics));
        expect(columns.offsets.length === 0).toBe(everywhere);
      }),
    );
  });
});

describe("keys that are resolved", () => {
  const trim = (key: string) => key.trim();

  test("each spelling is resolved once for the whole batch", () => {
    const resolveKey = jest.fn(trim);
    const builder = createColumnsBuilder({ resolveKey });
    for (let step = 0; step < 3; step++) builder.addPoint({ " loss": 1, acc: 2 }, step, null);
    builder.addPoint({ loss: 1, " acc ": 2 }, 3, null);
    expect(resolveKey.mock.calls.map(([key]) => key)).toEqual([" loss", "acc", " acc "]);
    expect(builder.build().keys).toEqual(["acc", "loss"]);
  });

  test.each<[string, Record<string, number>[]]>([
    ["the plain spelling comes last", [{ " loss": 1, loss: 2 }]],
    ["the plain spelling comes first", [{ loss: 1, " loss": 2 }]],
    ["there are three of them", [{ loss: 0, " loss": 1, "loss ": 2 }]],
    [
      "the point before had the same",
      [
        { loss: 8, " loss": 9 },
        { loss: 1, " loss": 2 },
      ],
    ],
    ["the point before had only one", [{ loss: 9 }, { loss: 1, " loss": 2 }]],
    ["the point before had the other", [{ " loss": 9 }, { loss: 1, " loss": 2 }]],
  ])("of several spellings of one key in a point the last wins, when %s", (_, metrics) => {
    const builder = createColumnsBuilder({ resolveKey: trim });
    metrics.forEach((point, i) => expect(builder.addPoint(point, i, null)).toBe(1));
    const columns = builder.build();
    expect(columns.keys).toEqual(["loss"]);
    expect(columns.values.at(-1)).toBe(2);
    expect(columns.values).toHaveLength(metrics.length);
  });

  test("errors of the resolver pass through", () => {
    const builder = createColumnsBuilder({
      resolveKey: (key) => {
        if (key === "") throw new RangeError("empty key");
        return key;
      },
    });
    expect(() => builder.addPoint({ a: 1, "": 2 }, 0, null)).toThrow("empty key");
  });
});
