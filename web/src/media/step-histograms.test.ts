import { expect, test } from "@jest/globals";
import { histogramsOf } from "./step-histograms.ts";
import type { RichObject } from "./steps.ts";

const object = (
  id: number,
  step: number | null,
  counts: unknown,
  kind: RichObject["kind"] = "histogram",
): RichObject => ({
  id,
  run_id: "r",
  key: "weights",
  kind,
  step,
  value: { bins: [0, 1], counts },
  metadata: {},
  summary: {},
  artifact: null,
  created_at: "2026-01-01T00:00:00Z",
});

test("histograms are in the order of their steps, of each step the newest; others are left out", () => {
  const objects = [
    object(5, 20, [5]),
    object(3, 10, [3]),
    object(4, 10, [4]),
    object(2, 10, [2]),
    object(6, null, [6]),
    object(7, 30, [7], "table"),
    object(8, 40, "none"),
  ];
  expect(histogramsOf(objects).map(({ step, histogram: { counts } }) => [step, counts])).toEqual([
    [10, [4]],
    [20, [5]],
  ]);
});
