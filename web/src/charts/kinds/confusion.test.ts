import { expect, test } from "@jest/globals";
import { PAPER } from "../scene/figure.ts";
import { confusionScene } from "./confusion-scene.ts";
import { confusionOfEvaluation, confusionOfRows, confusionSheet, rowShares, shareText } from "./confusion.ts";

const cats = {
  labels: ["cat", "dog"],
  counts: [
    [6, 2],
    [0, 0],
  ],
};

test("shares are of the cases with a true label", () => {
  expect(confusionOfEvaluation({ class_names: ["cat", "dog"], confusion_matrix: cats.counts })).toEqual(cats);
  expect(rowShares(cats)).toEqual([
    [0.75, 0.25],
    [0, 0],
  ]);
  expect([0, 0.0123, 0.0996, 0.1, 0.75, 1].map(shareText)).toEqual(["0%", "1.2%", "10.0%", "10%", "75%", "100%"]);
  expect(confusionSheet(cats).rows).toEqual([
    ["cat", "cat", 6, 0.75],
    ["cat", "dog", 2, 0.25],
    ["dog", "cat", 0, 0],
    ["dog", "dog", 0, 0],
  ]);
});

test.each([
  ["nothing", undefined],
  ["no matrix", { class_names: ["a"] }],
  ["an empty one", { confusion_matrix: [] }],
  ["one that is not square", { confusion_matrix: [[1, 2]] }],
  ["counts below 0", { confusion_matrix: [[-1]] }],
  ["texts", { confusion_matrix: [["1"]] }],
])("%s is not a matrix", (_, value) => {
  expect(confusionOfEvaluation(value)).toBeUndefined();
});

test("a table of pairs of labels is a matrix; pairs that it repeats are added", () => {
  const row = (Actual: string, Predicted: string, nPredictions: unknown) => ({ Actual, Predicted, nPredictions });
  expect(
    confusionOfRows([row("a", "a", 3), row("a", "c", 1), row("b", "a", 2), row("a", "a", 1), row("a", "x", null)]),
  ).toEqual({
    labels: ["a", "b", "c"],
    counts: [
      [4, 0, 1],
      [2, 0, 0],
      [0, 0, 0],
    ],
  });
  expect(confusionOfRows([{ Actual: "a" }])).toBeUndefined();
});

test("a picture has the count and the share of each cell, in black or white", () => {
  const texts = confusionScene({ ...cats, labels: ["a very long name of a class", "dog"] }, PAPER).inside.flatMap(
    (shape) => (shape.kind === "text" ? [[shape.text, shape.fill]] : []),
  );
  expect(texts).toEqual([
    ["6", "#000000"],
    ["75%", "#000000"],
    ["2", "#ffffff"],
    ["25%", "#ffffff"],
    ["0", "#ffffff"],
    ["0%", "#ffffff"],
    ["0", "#ffffff"],
    ["0%", "#ffffff"],
  ]);
});
