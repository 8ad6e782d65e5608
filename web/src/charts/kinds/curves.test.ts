import { describe, expect, test } from "@jest/globals";
import { pictureOfColumns } from "./table-columns.ts";
import { areaBelow, curveOfEvaluation, curvePath, curvesOfRows, curvesSheet } from "./curves.ts";

/** Labels 0 0 1 1 with scores 0.1 0.4 0.35 0.8, an example of scikit-learn: its AUC is 0.75, its average precision 5 / 6. */
const value = {
  positive_label: "cat",
  roc_curve: [
    { threshold: 0.8, fpr: 0, tpr: 0.5 },
    { threshold: 0.4, fpr: 0.5, tpr: 0.5 },
    { threshold: 0.35, fpr: 0.5, tpr: 1 },
    { threshold: 0.1, fpr: 1, tpr: 1 },
  ],
  pr_curve: [
    { threshold: 0.1, precision: 0.5, recall: 1 },
    { threshold: 0.35, precision: 2 / 3, recall: 1 },
    { threshold: 0.4, precision: 0.5, recall: 0.5 },
    { threshold: 0.8, precision: 1, recall: 0.5 },
  ],
};

describe("the curves of an evaluation", () => {
  test("have the areas of the textbook", () => {
    expect(areaBelow("roc", curveOfEvaluation("roc", value)!.points)).toBeCloseTo(0.75, 12);
    expect(areaBelow("pr", curveOfEvaluation("pr", value)!.points)).toBeCloseTo(5 / 6, 12);
  });

  test("do not depend on the order of the points, nor on the ends that all curves have", () => {
    const points = value.roc_curve.toReversed();
    const ends = [{ fpr: 0, tpr: 0 }, ...points, { fpr: 1, tpr: 1 }];
    for (const roc of [points, ends])
      expect(areaBelow("roc", curveOfEvaluation("roc", { roc_curve: roc })!.points)).toBeCloseTo(0.75, 12);
    const pr = value.pr_curve.toReversed();
    const whole = [...pr, { precision: 1, recall: 0 }];
    for (const curve of [pr, whole])
      expect(areaBelow("pr", curveOfEvaluation("pr", { pr_curve: curve })!.points)).toBeCloseTo(5 / 6, 12);
  });

  test("that are perfect, or guess, have the areas 1 and a half", () => {
    expect(areaBelow("roc", [{ x: 0, y: 1 }])).toBe(1);
    expect(areaBelow("roc", [])).toBe(0.5);
    expect(areaBelow("pr", [{ x: 1, y: 1 }])).toBe(1);
    expect(areaBelow("pr", [])).toBe(0);
  });

  test.each([
    ["nothing", null],
    ["another value", { kind: "table" }],
    ["no points", { roc_curve: [] }],
    [
      "rates that are none",
      { roc_curve: [{ fpr: -0.1, tpr: 1 }, { fpr: 0, tpr: Number.NaN }, { fpr: "0", tpr: 1 }, 7] },
    ],
  ])("with %s are none", (_, wrong) => {
    expect(curveOfEvaluation("roc", wrong)).toBeUndefined();
  });
});

test("a path has the area that is named", () => {
  const shoelace = (path: readonly (readonly [number, number])[]): number =>
    path.slice(1).reduce((sum, [x, y], i) => sum + ((x - path[i]![0]) * (y + path[i]![1])) / 2, 0);
  for (const kind of ["roc", "pr"] as const) {
    const { points } = curveOfEvaluation(kind, value)!;
    expect(shoelace(curvePath(kind, points))).toBeCloseTo(areaBelow(kind, points), 12);
  }
});

test("a table with columns of rates is a curve for each class", () => {
  const rows = [
    { class: "a", fpr: 0.5, tpr: 1 },
    { class: "b", fpr: 0, tpr: 0.5 },
    { class: "a", fpr: 0, tpr: 1 },
    { class: "c", fpr: null, tpr: 1 },
  ];
  expect(curvesOfRows("roc", rows)).toEqual([
    {
      className: "a",
      points: [
        { x: 0, y: 1 },
        { x: 0.5, y: 1 },
      ],
    },
    { className: "b", points: [{ x: 0, y: 0.5 }] },
  ]);
  expect(curvesOfRows("pr", [{ recall: 1, precision: 0.25 }])).toEqual([
    { className: undefined, points: [{ x: 1, y: 0.25 }] },
  ]);
});

test("columns say which picture a table is", () => {
  const pictures = [
    ["class", "fpr", "tpr"],
    ["recall", "precision"],
    ["Actual", "Predicted", "nPredictions", "more"],
    ["Actual", "Predicted"],
    ["recall"],
  ].map(pictureOfColumns);
  expect(pictures).toEqual(["roc", "pr", "confusion", undefined, undefined]);
});

test("the table of curves has their points, and thresholds where there are any", () => {
  const look = { color: "#000000", dash: [] };
  const curve = { id: "r", name: "run", ...look, points: curveOfEvaluation("roc", value)!.points.slice(0, 2) };
  expect(curvesSheet("roc", [curve])).toEqual({
    head: ["name", "fpr", "tpr", "threshold"],
    rows: [
      ["run", 0, 0.5, 0.8],
      ["run", 0.5, 0.5, 0.4],
    ],
  });
  expect(curvesSheet("pr", [{ ...curve, points: [{ x: 1, y: 0.5 }] }]).head).toEqual(["name", "recall", "precision"]);
});
