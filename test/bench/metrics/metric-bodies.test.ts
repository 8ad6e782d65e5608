import { describe, expect, test } from "@jest/globals";
import { eventBody, metricBodies, seriesBody, seriesEvent } from "./metric-bodies.ts";
import { pointTime } from "./point-times.ts";

const tape = Float64Array.from([1.5, -0.25, 1e-300, 4, 5, 6]);
const write = { run: 0, firstStep: 7, tapeFrom: 2 };

test("an event is, byte for byte, what instantml 0.1.1 was recorded to send from its queue", () => {
  const recorded =
    '{"metrics": {"eval/acc": 1.5, "train/loss": 0.123456789012345}, "preview": false, "preview_completion": 0.0, "step": 3, "timestamp": "2026-11-22T12:36:27.493083Z"}';
  const sent = eventBody('"eval/acc": 1.5, "train/loss": 0.123456789012345', 3);
  expect(sent.replace(pointTime(3), "2026-11-22T12:36:27.493083")).toBe(recorded);
});

describe("a single step", () => {
  test("carries its first point", () => {
    const body = metricBodies(tape, { points: 1, keys: ["a", 'b"'] }).single(write);
    expect(JSON.parse(body)).toEqual({
      metrics: { a: 1e-300, 'b"': 4 },
      preview: false,
      preview_completion: 0,
      step: 7,
      timestamp: `${pointTime(7)}Z`,
    });
  });

  test("has null for a time where it is to have none", () => {
    const body = metricBodies(tape, { points: 1, keys: ["a"], timed: false }).single(write);
    expect(JSON.parse(body)).toMatchObject({ step: 7, timestamp: null });
  });
});

describe("a batch", () => {
  const point = (step: number, metrics: object) => ({ metrics, step, timestamp: `${pointTime(step)}+00:00` });

  test("carries its points in order, also the second time", () => {
    const bodies = metricBodies(tape, { points: 2, keys: ["a", "b"] });
    const points = (step: number) => ({
      points: [point(step, { a: 1e-300, b: 4 }), point(step + 1, { a: 5, b: 6 })],
    });
    expect(JSON.parse(bodies.batch(write).toString())).toEqual(points(7));
    expect(JSON.parse(bodies.batch({ ...write, firstStep: 9 }).toString())).toEqual(points(9));
    expect(JSON.parse(bodies.batch({ ...write, firstStep: 123_456_789 }).toString())).toEqual(points(123_456_789));
  });

  test("is the same without times where it is to have none", () => {
    const bodies = metricBodies(tape, { points: 2, keys: ["a", "b"], timed: false });
    expect(bodies.batch(write).toString()).toBe(
      '{"points": [{"metrics": {"a": 1e-300, "b": 4}, "step": 7}, {"metrics": {"a": 5, "b": 6}, "step": 8}]}',
    );
  });

  test("carries a part of whole series", () => {
    const body = seriesBody(["a", "b"], [Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)], 1, 3);
    expect(JSON.parse(body)).toEqual({ points: [point(1, { a: 2, b: 5 }), point(2, { a: 3, b: 6 })] });
  });
});

test("a step of whole series", () => {
  const body = seriesEvent(["a", "b"], [Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)], 2);
  expect(JSON.parse(body)).toMatchObject({ metrics: { a: 3, b: 6 }, step: 2, timestamp: `${pointTime(2)}Z` });
});
