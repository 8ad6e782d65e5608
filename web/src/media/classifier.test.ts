import { expect, test } from "@jest/globals";
import { confusionOf, curvesOfRuns } from "./classifier.ts";
import type { RichObject } from "./steps.ts";
import { pictureOfTable } from "./table-picture.ts";

const object = (kind: RichObject["kind"], value: unknown, columns: readonly string[] = []): RichObject => ({
  id: 1,
  run_id: "r",
  key: "eval",
  kind,
  step: 1,
  value,
  metadata: {},
  summary: kind === "table" ? { columns } : {},
  artifact: null,
  created_at: "2026-01-01T00:00:00Z",
});
const run = (id: string) => ({ id, name: `run ${id}` });
const evaluation = object("classification_eval", {
  class_names: ["no", "yes"],
  positive_label: "yes",
  confusion_matrix: [
    [1, 0],
    [0, 2],
  ],
  roc_curve: [{ threshold: 0.5, fpr: 0.25, tpr: 0.75 }],
});
const table = object("table", {}, ["class", "fpr", "tpr"]);
const rows = [
  { class: "cat", fpr: 0, tpr: 0.5 },
  { class: "dog", fpr: 0, tpr: 0.75 },
];

test("curves of several runs have the colors of these, and dashes for classes", () => {
  const curves = curvesOfRuns(
    "roc",
    [
      { run: run("a"), object: evaluation },
      { run: run("b"), object: table, rows },
      { run: run("c"), object: object("image", null) },
      { run: run("d"), object: table },
    ],
    (id) => `color of ${id}`,
  );
  expect(curves.map(({ id, name, color, dash }) => ({ id, name, color, dash }))).toEqual([
    { id: "a", name: "run a", color: "color of a", dash: [] },
    { id: "b", name: "run b, cat", color: "color of b", dash: [] },
    { id: "b 1", name: "run b, dog", color: "color of b", dash: [8, 3] },
  ]);
  expect(curves[0]!.points).toEqual([{ x: 0.25, y: 0.75, threshold: 0.5 }]);
  expect(curvesOfRuns("pr", [{ run: run("a"), object: evaluation }], String)).toEqual([]);
});

test("columns say what a table draws", () => {
  const pictures = [["fpr", "tpr"], ["recall", "precision"], ["Actual", "Predicted", "nPredictions"], ["loss"], []].map(
    (columns) => pictureOfTable(object("table", {}, columns)),
  );
  expect(pictures).toEqual(["roc", "pr", "confusion", undefined, undefined]);
  expect(pictureOfTable(evaluation)).toBeUndefined();
});

test("matrices are those of evaluations and of tables of pairs", () => {
  expect(confusionOf({ object: evaluation })?.counts).toEqual([
    [1, 0],
    [0, 2],
  ]);
  const pairs = object("table", {}, ["Actual", "Predicted", "nPredictions"]);
  expect(confusionOf({ object: pairs, rows: [{ Actual: "a", Predicted: "a", nPredictions: 2 }] })?.counts).toEqual([
    [2],
  ]);
  expect(confusionOf({ object: table, rows })).toBeUndefined();
});
