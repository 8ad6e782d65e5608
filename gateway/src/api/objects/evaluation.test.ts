import { describe, expect, test } from "@jest/globals";
import { checkEvaluation } from "./evaluation.ts";

const smallest = {
  schema_version: 1,
  task: "binary_classification",
  class_names: ["no", "yes"],
  positive_label: "yes",
  sample_count: 3,
  confusion_matrix: [
    [1, 0],
    [0, 2],
  ],
};
const perClass = { class_name: "no", precision: 0, recall: 1, f1: 0.5, support: 1 };
const point = { threshold: 0, precision: 1, recall: 0.5 };
const rate = { threshold: 0, tpr: 1, fpr: 0.5 };
const prediction = { id: 7, true_label: "no", predicted_label: "yes", score: 0.5, correct: false };
const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });

describe("an evaluation is taken", () => {
  test.each([
    ["with what it needs", {}],
    ["with null for everything else", { threshold: null, per_class: null, pr_curve: null, metadata: null }],
    ["with everything", { threshold: 1, accuracy: 0, macro_f1: 0.5, per_class: [perClass], predictions: [prediction] }],
    ["with 200 points of each curve", { pr_curve: repeated(point, 200), roc_curve: repeated(rate, 200) }],
    ["with 100 predictions", { predictions: repeated(prediction, 100) }],
    ["of a million samples", matrixOf(1_000_000)],
    ["with class names of 128 bytes", classes("x".repeat(128))],
    ["with a text of 1,024 bytes", { note: "x".repeat(1024) }],
    ["with 8 levels", { deep: nested(6) }],
    ["with a prediction of 2,048 bytes", { predictions: [predictionOf(2048)] }],
    ["with metadata of 16,384 bytes", { metadata: metadataOf(16_384) }],
    ["with fields of its own", { split: "test" }],
  ])("%s", (_, more) => {
    expect(() => checkEvaluation({ ...smallest, ...more })).not.toThrow();
  });
});

describe("an evaluation is refused", () => {
  test.each([
    ["of another version", { schema_version: 2 }],
    ["of another task", { task: "regression" }],
    ["of three classes", { class_names: ["no", "yes", "maybe"] }],
    ["of one class twice", { class_names: ["yes", "yes"] }],
    ["of a class without a name", { class_names: ["", "yes"] }],
    ["with class names of 129 bytes", classes("x".repeat(129))],
    ["of an unknown positive label", { positive_label: "maybe" }],
    ["of another direction", { threshold_direction: "score_lt_threshold" }],
    ["with a threshold above 1", { threshold: 1.01 }],
    ["with an accuracy below 0", { accuracy: -0.1 }],
    ["with a macro_f1 that is a text", { macro_f1: "1" }],
    ["without a sample count", { sample_count: undefined }],
    ["of another sample count than its matrix has", { sample_count: 4 }],
    ["of 1,000,001 samples", matrixOf(1_000_001)],
    [
      "with a count with a fraction",
      {
        confusion_matrix: [
          [0.5, 0.5],
          [0, 2],
        ],
      },
    ],
    [
      "with a negative count",
      {
        confusion_matrix: [
          [2, -1],
          [0, 2],
        ],
      },
    ],
    [
      "with a matrix of another form",
      {
        confusion_matrix: [
          [1, 0, 0],
          [0, 2],
        ],
      },
    ],
    ["with three rows of classes", { per_class: repeated(perClass, 3) }],
    ["with a row of an unknown class", { per_class: [{ ...perClass, class_name: "maybe" }] }],
    ["with a recall above 1", { per_class: [{ ...perClass, recall: 2 }] }],
    ["with a support with a fraction", { per_class: [{ ...perClass, support: 0.5 }] }],
    ["with 201 points of a curve", { pr_curve: repeated(point, 201) }],
    ["with 201 points of the other curve", { roc_curve: repeated(rate, 201) }],
    ["with a point above 1", { pr_curve: [{ ...point, recall: 1.1 }] }],
    ["with a point without a rate", { roc_curve: [{ ...rate, tpr: undefined }] }],
    ["with a curve that is not a list", { roc_curve: {} }],
    ["with 101 predictions", { predictions: repeated(prediction, 101) }],
    ["with a prediction of 2,049 bytes", { predictions: [predictionOf(2049)] }],
    ["with a prediction of an unknown label", { predictions: [{ ...prediction, true_label: "maybe" }] }],
    ["with a prediction of an unknown predicted label", { predictions: [{ ...prediction, predicted_label: 1 }] }],
    ["with a score above 1", { predictions: [{ ...prediction, score: 2 }] }],
    ["with a prediction that is neither right nor wrong", { predictions: [{ ...prediction, correct: 1 }] }],
    ["with a text of 1,025 bytes", { note: "x".repeat(1025) }],
    ["with 9 levels", { deep: nested(7) }],
    ["with metadata of 16,385 bytes", { metadata: metadataOf(16_385) }],
    ["with metadata that are a list", { metadata: [] }],
  ])("%s", (_, more) => {
    expect(() => checkEvaluation({ ...smallest, ...more })).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "value" }),
    );
  });

  test.each([undefined, null, [], 1])("that is %j", (value) => {
    expect(() => checkEvaluation(value)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});

function repeated(row: object, count: number): object[] {
  return Array.from({ length: count }, () => row);
}

function matrixOf(samples: number): object {
  return {
    sample_count: samples,
    confusion_matrix: [
      [samples - 1, 0],
      [0, 1],
    ],
  };
}

function classes(name: string): object {
  return { class_names: [name, "yes"], positive_label: name };
}

/** Texts of at most 1,024 bytes that make a document as long as asked. */
function filled(document: object, bytes: number): object {
  const texts: string[] = [];
  const size = (): number => JSON.stringify({ ...document, texts }).length;
  while (size() < bytes) {
    texts.push("");
    texts[texts.length - 1] = "x".repeat(Math.min(Math.max(bytes - size(), 0), 1000));
  }
  return { ...document, texts };
}

function predictionOf(bytes: number): object {
  return filled(prediction, bytes);
}

function metadataOf(bytes: number): object {
  return filled({}, bytes);
}
