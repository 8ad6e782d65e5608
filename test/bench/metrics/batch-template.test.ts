import { expect, test } from "@jest/globals";
import { batchTemplate } from "./bodies.ts";

type Point = { metrics: Record<string, number>; step: number; timestamp?: string };
const parse = (body: Buffer): Point[] => (JSON.parse(body.toString()) as { points: Point[] }).points;
const values = Float64Array.from({ length: 1000 }, (_, i) => 1 / (i + 3));

test("batches of a run continue where the last one ended, in steps and in time", () => {
  const { body } = batchTemplate(["a", "b"], values, true);
  const points = [0, 1, 70].flatMap((turn) => parse(body(turn)));
  expect(points).toHaveLength(1500);
  expect(points[501]?.metrics).toEqual({ a: values[2], b: values[3] });
  expect([0, 499, 500, 1000].map((at) => points[at]!.step - points[0]!.step)).toEqual([0, 499, 500, 35_000]);
  const times = points.map(({ timestamp }) => timestamp!);
  expect(times).toEqual(times.toSorted());
  expect(new Set(times).size).toBe(1500);
  expect(times[1000]).toMatch(/^2026-01-02T04:14:\d\d\.\d{6}\+00:00$/);
});

test("points without client times are the same otherwise", () => {
  const of = (timed: boolean) => parse(batchTemplate(["a", "b"], values, timed).body(3));
  expect(of(false)).toEqual(of(true).map(({ metrics, step }) => ({ metrics, step })));
});
