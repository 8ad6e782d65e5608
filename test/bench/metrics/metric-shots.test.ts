import { expect, test } from "@jest/globals";
import { valueTape } from "./metric-values.ts";
import { metricShots } from "./metric-shots.ts";
import { pointTime } from "./point-times.ts";

const load = { runs: 2, points: 1, keys: 2, concurrency: 1 };
const runIds = ["r0", "r1"];

test("a load of single steps sends events, run after run and step after step", () => {
  const shotOf = metricShots(valueTape(), load, runIds);
  const sent = [0, 1, 2].map(shotOf);
  expect(sent.map(({ path }) => path)).toEqual(["/runs/r0/metrics", "/runs/r1/metrics", "/runs/r0/metrics"]);
  expect(sent.map(({ body }) => (JSON.parse(String(body)) as { step: number }).step)).toEqual([0, 0, 1]);
});

test.each([
  ["with client times", true, [`${pointTime(3)}+00:00`, `${pointTime(4)}+00:00`, `${pointTime(5)}+00:00`]],
  ["without client times", false, [undefined, undefined, undefined]],
])("a load of batches sends batches %s", (_what, timed, times) => {
  const shot = metricShots(valueTape(), { ...load, points: 3 }, runIds, timed)(2);
  expect(shot.path).toBe("/runs/r0/metrics/batch");
  const { points } = JSON.parse(String(shot.body)) as { points: { step: number; timestamp?: string }[] };
  expect(points.map(({ step }) => step)).toEqual([3, 4, 5]);
  expect(points.map(({ timestamp }) => timestamp)).toEqual(times);
});
