import { expect, test } from "@jest/globals";
import { readSource } from "./source.rules.ts";

const modelId = `m-${"0a".repeat(16)}`;
const runId = "0b".repeat(16);

test.each([
  [`models:/${modelId}`, { kind: "model", modelId, folder: "" }],
  [`models:/${modelId}/part`, { kind: "model", modelId, folder: "part" }],
  [`mlflow-artifacts:/1/models/${modelId}/artifacts`, { kind: "model", modelId, folder: "" }],
  [`mlflow-artifacts:/1/models/${modelId}/artifacts/a/b/`, { kind: "model", modelId, folder: "a/b" }],
  [`runs:/${runId}/model`, { kind: "run", runId, folder: "model" }],
  [`mlflow-artifacts:/1/${runId}/artifacts/a//b`, { kind: "run", runId, folder: "a/b" }],
  ["models:/name/3", { kind: "version", name: "name", number: 3 }],
  ["models:/name@alias", { kind: "elsewhere" }],
  ["dummy-source", { kind: "elsewhere" }],
  [`s3://bucket/1/${runId}/artifacts/model`, { kind: "elsewhere" }],
])("%s", (source, expected) => {
  expect(readSource(source)).toEqual(expected);
});
