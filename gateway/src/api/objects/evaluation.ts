import { badRequest } from "@tidemark/errors";
import { EVALUATION, OBJECT_DOCUMENT_BYTES_MAX, OBJECT_VALUE_BYTES_MAX } from "@tidemark/limits";
import { isExactNumber } from "@tidemark/documents";
import type { Schema } from "../../route.ts";
import { freeObject, leastBytes } from "../fields/document.ts";
import { isObject, present, type Fields } from "../fields/field.ts";
import { toNumber } from "../fields/number.ts";
import { listSchema, objectSchema } from "../replies.ts";

const { classNameBytesMax, samplesMax, curvePointsMax, predictionsMax, predictionBytesMax, textBytesMax, depthMax } =
  EVALUATION;

const share: Schema = { type: "number", minimum: 0, maximum: 1 };
const count: Schema = { type: "integer", minimum: 0, maximum: samplesMax };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
const name: Schema = { type: "string", minLength: 1, description: "At most 128 bytes." };
const curveOf = (...names: readonly string[]): Schema =>
  orNull({
    ...listSchema(objectSchema(Object.fromEntries(names.map((one) => [one, share])))),
    maxItems: curvePointsMax,
  });

/** The value of a classification evaluation. */
export const evaluationSchema: Schema = {
  type: "object",
  required: ["schema_version", "task", "class_names", "positive_label", "sample_count", "confusion_matrix"],
  properties: {
    schema_version: { const: 1 },
    task: { const: "binary_classification" },
    class_names: { type: "array", minItems: 2, maxItems: 2, uniqueItems: true, items: name },
    positive_label: { ...name, description: "One of `class_names`." },
    threshold_direction: { enum: ["score_gte_threshold", null] },
    threshold: orNull(share),
    accuracy: orNull(share),
    macro_f1: orNull(share),
    sample_count: count,
    confusion_matrix: {
      type: "array",
      minItems: 2,
      maxItems: 2,
      items: { type: "array", minItems: 2, maxItems: 2, items: count },
      description: "Its sum is `sample_count`.",
    },
    per_class: orNull({
      type: "array",
      maxItems: 2,
      items: objectSchema({ class_name: name, precision: share, recall: share, f1: share, support: count }),
    }),
    pr_curve: curveOf("threshold", "precision", "recall"),
    roc_curve: curveOf("threshold", "tpr", "fpr"),
    predictions: orNull({
      type: "array",
      maxItems: predictionsMax,
      items: objectSchema(
        {
          id: {},
          true_label: name,
          predicted_label: name,
          score: share,
          correct: { type: "boolean" },
        },
        ["id"],
      ),
      description: "At most 2,048 bytes each.",
    }),
    metadata: orNull(freeObject().schema),
  },
  description: "At most 65,536 bytes, 8 levels deep, with texts of at most 1,024 bytes.",
};

/** Checks the value of a classification evaluation; see `evaluationSchema`. @throws bad_request */
export function checkEvaluation(value: unknown): void {
  if (!isObject(value)) throw fault("must be an object");
  // First, so that no time is spent on checking a value that is refused anyway.
  if (leastBytes(value, OBJECT_VALUE_BYTES_MAX) > OBJECT_VALUE_BYTES_MAX)
    throw fault(`must have at most ${OBJECT_VALUE_BYTES_MAX} bytes`);
  checkTexts(value, 1);
  if (toNumber(value["schema_version"]) !== 1) throw fault("schema_version must be 1");
  if (value["task"] !== "binary_classification") throw fault("task must be binary_classification");
  const classes = readClasses(value);
  requireClass(value, "positive_label", classes);
  if ((present(value, "threshold_direction") ?? "score_gte_threshold") !== "score_gte_threshold") {
    throw fault("threshold_direction must be score_gte_threshold");
  }
  for (const field of ["threshold", "accuracy", "macro_f1"]) {
    if (present(value, field) !== undefined) requireShare(value, field, field);
  }
  checkMatrix(value);
  for (const row of rowsOf(value, "per_class", classes.length)) {
    requireClass(row, "class_name", classes);
    for (const field of ["precision", "recall", "f1"]) requireShare(row, field, `per_class ${field}`);
    requireCount(row["support"], "support");
  }
  checkCurve(value, "pr_curve", ["threshold", "precision", "recall"]);
  checkCurve(value, "roc_curve", ["threshold", "tpr", "fpr"]);
  for (const row of rowsOf(value, "predictions", predictionsMax)) checkPrediction(row, classes);
  const metadata = present(value, "metadata");
  if (metadata === undefined) return;
  if (!isObject(metadata)) throw fault("metadata must be an object");
  requireJsonBytes(metadata, "metadata", OBJECT_DOCUMENT_BYTES_MAX);
}

function fault(text: string): Error {
  return badRequest(`value of an evaluation: ${text}`, "value");
}

function readClasses(value: Fields): string[] {
  const names = value["class_names"];
  if (!Array.isArray(names) || names.length !== 2 || names[0] === names[1]) {
    throw fault("class_names must be two different texts");
  }
  return names.map((one: unknown) => {
    if (typeof one === "string" && one !== "" && Buffer.byteLength(one) <= classNameBytesMax) return one;
    throw fault(`class_names must be texts which must have at most ${classNameBytesMax} bytes`);
  });
}

function requireClass(row: Fields, field: string, classes: readonly string[]): void {
  if (!classes.some((one) => one === row[field])) throw fault(`${field} must be one of class_names`);
}

function requireShare(row: Fields, field: string, called: string): void {
  const found = toNumber(row[field]);
  if (found === undefined || found < 0 || found > 1) throw fault(`${called} must be a number from 0 to 1`);
}

function requireCount(value: unknown, called: string): number {
  const found = toNumber(value);
  if (found !== undefined && Number.isSafeInteger(found) && found >= 0 && found <= samplesMax) return found;
  throw fault(`${called} must be a whole number from 0 to ${samplesMax}`);
}

function checkMatrix(value: Fields): void {
  const samples = requireCount(value["sample_count"], "sample_count");
  const matrix = value["confusion_matrix"];
  const isSquare =
    Array.isArray(matrix) && matrix.length === 2 && matrix.every((row) => Array.isArray(row) && row.length === 2);
  if (!isSquare) throw fault("confusion_matrix must be two lists of two counts");
  const sum = (matrix as unknown[][]).flat().reduce<number>((so, far) => so + requireCount(far, "confusion_matrix"), 0);
  if (sum !== samples) throw fault("the sum of confusion_matrix must be sample_count");
}

function rowsOf(value: Fields, field: string, rowsMax: number): Fields[] {
  const rows = present(value, field) ?? [];
  if (!Array.isArray(rows) || rows.length > rowsMax || !rows.every(isObject)) {
    throw fault(`${field} must be a list of at most ${rowsMax} objects`);
  }
  return rows;
}

function checkCurve(value: Fields, field: string, names: readonly string[]): void {
  for (const point of rowsOf(value, field, curvePointsMax)) {
    for (const one of names) requireShare(point, one, `${field} ${one}`);
  }
}

function checkPrediction(row: Fields, classes: readonly string[]): void {
  requireClass(row, "true_label", classes);
  requireClass(row, "predicted_label", classes);
  requireShare(row, "score", "score of predictions");
  if (typeof row["correct"] !== "boolean") throw fault("correct must be true or false");
  requireJsonBytes(row, "each of predictions", predictionBytesMax);
}

function requireJsonBytes(part: Fields, called: string, bytesMax: number): void {
  if (Buffer.byteLength(JSON.stringify(part)) > bytesMax) throw fault(`${called} must have at most ${bytesMax} bytes`);
}

/** Bounds every text and the depth. */
function checkTexts(part: unknown, depth: number): void {
  if (typeof part === "string" && part.length * 3 > textBytesMax && Buffer.byteLength(part) > textBytesMax) {
    throw fault(`a text must have at most ${textBytesMax} bytes`);
  }
  if (typeof part !== "object" || part === null || isExactNumber(part)) return;
  if (depth > depthMax) throw fault(`it must be nested at most ${depthMax} levels deep`);
  for (const inner of Object.values(part)) checkTexts(inner, depth + 1);
}
