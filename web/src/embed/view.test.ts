import { expect, test } from "@jest/globals";
import { readView } from "./view.ts";

const answer = (runs: unknown, series: unknown) => ({
  view_data: { runs, metric_series: [{ metric_key: "loss", series }] },
});

test("an answer becomes runs and charts", () => {
  const runs = [
    { id: "a", name: "first", status: "running" },
    { id: "b", name: "second", status: "finished" },
  ];
  const series = [
    { run_id: "b", metrics: [{ step: 0, value: 1.5 }], truncated: false, sampled: true },
    { run_id: "a", metrics: [], truncated: false, sampled: false },
  ];
  expect(readView(answer(runs, series))).toEqual({
    runs,
    charts: [{ key: "loss", lines: [{ run: 1, points: [{ step: 0, value: 1.5 }] }], isPartial: true }],
  });
});

test.each([[null], [""], ["  "], [7]])("a run whose name is %j is labeled by its id", (name) => {
  const [run] = readView(answer([{ id: "0c9b8a1e-2222-4222-8333-444455556666", name, status: "running" }], [])).runs;
  expect(run!.name).toBe("0c9b8a1e");
});

test("infinite values are kept, what has none is a gap, and points without a step are left out", () => {
  const metrics = [
    { step: 0, value: "NaN" },
    { step: 1, value: null },
    { step: 2 },
    { step: 3, value: "Infinity" },
    { step: 4, value: 4 },
    { step: null, value: 5 },
  ];
  const { charts } = readView(answer([{ id: "a" }], [{ run_id: "a", metrics }]));
  expect(charts[0]!.lines[0]!.points).toEqual([
    ...[0, 1, 2].map((step) => ({ step, value: null })),
    { step: 3, value: Infinity },
    { step: 4, value: 4 },
  ]);
});

test.each([[null], [{}], [{ view_data: {} }]])("%j is an empty view", (empty) => {
  expect(readView(empty)).toEqual({ runs: [], charts: [] });
});
