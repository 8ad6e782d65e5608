import { expect, test } from "@jest/globals";
import { describeBody } from "../route-input.fixture.ts";
import { decodeViewData, pointsPerSeries } from "./read.ts";

const utf8 = new TextEncoder();
const id = "0c9b8a1e-2222-4222-8333-444455556666";
const ids = (count: number) => Array.from({ length: count }, (_, i) => `${String(i).padStart(8, "0")}${id.slice(8)}`);
const view = { metricKey: "loss" };
const options = { metricPointLimit: { value: 500 }, maxPanels: { value: 20 } };
const read = { view: utf8.encode('{"metricKey":"loss"}'), runIds: [id], options };

describeBody(
  "POST /api/workspace-view-data",
  decodeViewData,
  [
    ["a view and runs", { view, run_ids: [id] }, read],
    ["repeated ids once, in lower case", { view, run_ids: [id, id.toUpperCase()] }, read],
    ["a hundred different ids", { view, run_ids: [...ids(100), ...ids(100)] }, { ...read, runIds: ids(100) }],
    ["no options as null", { view, run_ids: [id], options: null }, read],
    [
      "options within their bounds",
      { view, run_ids: [id], options: { metric_point_limit: 1, max_panels: 50 } },
      { ...read, options: { metricPointLimit: { value: 1 }, maxPanels: { value: 50 } } },
    ],
    [
      "options beyond their bounds as the nearest, with a warning",
      { view, run_ids: [id], options: { metric_point_limit: 501, max_panels: 0 } },
      {
        ...read,
        options: {
          metricPointLimit: { value: 500, warning: "metric_point_limit must be from 1 to 500; 500 was taken" },
          maxPanels: { value: 1, warning: "max_panels must be from 1 to 50; 1 was taken" },
        },
      },
    ],
  ],
  [
    ["no view", { run_ids: [id] }, "view"],
    ["a view that is a list", { view: [], run_ids: [id] }, "view"],
    ["no runs", { view, run_ids: [] }, "run_ids"],
    ["a run that is not a UUID", { view, run_ids: ["x"] }, "run_ids"],
    ["101 different ids", { view, run_ids: ids(101) }, "run_ids"],
    ["options that are a list", { view, run_ids: [id], options: [] }, "options"],
    ["a bound that is a text", { view, run_ids: [id], options: { max_panels: "5" } }, "max_panels"],
    ["a bound that is a fraction", { view, run_ids: [id], options: { metric_point_limit: 1.5 } }, "metric_point_limit"],
  ],
);

test.each([
  ["a few series", 10, 10, 500, 500],
  ["series that just fit", 100, 1, 500, 500],
  ["one more", 100, 2, 500, 250],
  ["all that a view can have", 100, 50, 500, 10],
  ["a smaller limit", 100, 50, 7, 7],
  ["no lines", 100, 0, 500, 500],
])("of %s each has its share of the points", (_, runs, keys, limit, value) => {
  const share = pointsPerSeries(runs, keys, limit);
  expect([share.value, share.warning !== undefined]).toEqual([value, value !== limit]);
});
