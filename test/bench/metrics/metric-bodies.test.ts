import { expect, test } from "@jest/globals";
import { metricBodies, seriesBody } from "./metric-bodies.ts";

const tape = Float64Array.from([1.5, -0.25, 1e-300, 4, 5, 6]);
const write = { run: 0, firstStep: 7, tapeFrom: 2 };

test("a single step carries its first point", () => {
  const body = metricBodies(tape, 1, ["a", 'b"']).single(write);
  expect(JSON.parse(body)).toEqual({ metrics: { a: 1e-300, 'b"': 4 }, step: 7, timestamp: null });
});

test("a batch carries its points in order, also the second time", () => {
  const bodies = metricBodies(tape, 2, ["a", "b"]);
  const points = (step: number) => ({
    points: [
      { metrics: { a: 1e-300, b: 4 }, step },
      { metrics: { a: 5, b: 6 }, step: step + 1 },
    ],
  });
  expect(JSON.parse(bodies.batch(write).toString())).toEqual(points(7));
  expect(JSON.parse(bodies.batch({ ...write, firstStep: 9 }).toString())).toEqual(points(9));
});

test("a part of whole series", () => {
  const body = seriesBody(["a", "b"], [Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6)], 1, 3);
  expect(JSON.parse(body)).toEqual({
    points: [
      { metrics: { a: 2, b: 5 }, step: 1 },
      { metrics: { a: 3, b: 6 }, step: 2 },
    ],
  });
});
