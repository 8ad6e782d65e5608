import { expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  BAR_FIGURES,
  barColumn,
  barLabel,
  panelOf,
  PANELS_MAX,
  panelsOfText,
  panelsText,
  panelTitle,
  withMembers,
  type RunsPanel,
} from "./panel.ts";

const text = fc.string({ minLength: 1 }).filter((one) => one.trim() !== "");
const panels: fc.Arbitrary<RunsPanel> = fc.oneof(
  fc.record(
    { type: fc.constant("bar" as const), metric_key: text, agg: fc.constantFrom(...BAR_FIGURES.slice(1)) },
    { requiredKeys: ["type", "metric_key"] },
  ),
  fc.record({ type: fc.constant("bar" as const), config_key: text }),
  fc.record(
    { type: fc.constant("histogram" as const), object_key: text, view: fc.constant("heat" as const) },
    { requiredKeys: ["type", "object_key"] },
  ),
  fc.record({
    type: fc.constantFrom("roc_curve" as const, "pr_curve" as const, "confusion_matrix" as const),
    object_key: text,
  }),
);

test("panels are the same after they went through an address", () => {
  fc.assert(
    fc.property(fc.array(panels, { maxLength: 5 }), (all) => {
      const query = new URLSearchParams({ panels: panelsText(all) ?? "" });
      expect(panelsOfText(new URLSearchParams(query.toString()).get("panels")!)).toEqual(all);
    }),
  );
});

test("an address of panels is readable, and bounded", () => {
  const panel = { type: "bar", metric_key: "val/loss", agg: "best" } as const;
  expect(panelsText([panel, { type: "histogram", object_key: "a,b" }])).toBe(
    "bar\\,metric=val/loss\\,value=best,histogram\\,object=a\\\\\\,b",
  );
  expect(panelsText([])).toBeUndefined();
  const many = Array.from({ length: PANELS_MAX + 1 }, () => panel);
  expect(panelsOfText(panelsText(many)!)).toHaveLength(PANELS_MAX);
  expect(panelsOfText(Array.from({ length: PANELS_MAX + 1 }, () => "bar\\,metric=x").join(","))).toHaveLength(
    PANELS_MAX,
  );
});

test.each(["pie\\,metric=a", "bar", "bar\\,metric= ", "roc_curve", "roc_curve\\,metric=a", "", "line\\,metric=a"])(
  "%s is not a panel",
  (part) => expect(panelsOfText(part)).toEqual([]),
);

test("what a report stores of a panel is read, and unknown choices are the usual ones", () => {
  expect(panelOf({ type: "bar", metric_key: "a", agg: "sum", runset_index: 1 })).toEqual({
    type: "bar",
    metric_key: "a",
  });
  expect(panelOf({ type: "bar", metric_key: "a", config_key: "b" })).toEqual({ type: "bar", metric_key: "a" });
  expect(panelOf({ type: "histogram", object_key: "w", view: "pie" })).toEqual({ type: "histogram", object_key: "w" });
  expect(panelOf({ type: "line", metric_key: "a" })).toBeUndefined();
});

test("a panel keeps the members of a report that are not its own", () => {
  const stored = { type: "bar", metric_key: "a", agg: "min", runset_index: 2, note: "kept" };
  expect(withMembers(stored, { type: "bar", config_key: "lr" })).toEqual({
    type: "bar",
    config_key: "lr",
    runset_index: 2,
    note: "kept",
  });
  expect(withMembers({}, { type: "roc_curve", object_key: "e" })).toEqual({
    type: "roc_curve",
    object_key: "e",
    runset_index: 0,
  });
});

test("bars have a column and a name", () => {
  const of = (panel: Extract<RunsPanel, { type: "bar" }>) => [barColumn(panel), barLabel(panel)];
  expect(of({ type: "bar", metric_key: "loss" })).toEqual(["metrics.loss.latest", "loss"]);
  expect(of({ type: "bar", metric_key: "loss", agg: "min" })).toEqual(["metrics.loss.min", "loss (min)"]);
  expect(of({ type: "bar", config_key: "lr" })).toEqual(["config.lr", "lr"]);
  expect(panelTitle({ type: "roc_curve", object_key: "eval" })).toBe("eval: ROC curves");
});
