import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CompareRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { runComparisonRoutes } from "../routes/run-comparison.ts";
import { writeJson } from "./json.ts";
import { encodeCompareRuns } from "./runs-compare-reply.ts";

const utf8 = new TextEncoder();
const [a, b] = ["5b0c0000-0000-4000-8000-00000000000a", "5b0c0000-0000-4000-8000-00000000000b"];
const at = "2026-01-02T03:04:05.678901Z";
const runOf = (id: string) => ({
  id,
  orgId: id,
  projectId: id,
  project: "demo",
  name: "n",
  status: "running",
  configJson: utf8.encode("{}"),
  metadataJson: utf8.encode("{}"),
  createdAt: at,
  startedAt: at,
});

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);

/** The answer as a client gets it, once as text and once parsed, after checking it against the route's schema. */
function answerOf(blocks: MessageInitShape<typeof CompareRunsResponseSchema>["blocks"], referenceRunId = a) {
  const response = create(CompareRunsResponseSchema, { runs: [runOf(a), runOf(b)], referenceRunId, blocks });
  const text = writeJson(encodeCompareRuns(response).body);
  const body = JSON.parse(text) as { rows: unknown[] } & Record<string, unknown>;
  const validate = ajv.compile(runComparisonRoutes[0]?.schemas.response ?? false);
  expect([validate(body), validate.errors]).toEqual([true, null]);
  return { text, body };
}

test("rows name their values by run, and the reference's once more", () => {
  const blocks = [
    { paths: ["config/a", 'config/"b'], different: [true, false], valuesJson: ["1", "", '{"x":[1.0]}', '{"x":[1]}'] },
    { paths: ["metric/loss/latest"], different: [true], numbers: [Number.NaN, 0.5] },
    { paths: ["tag/t"], different: [true], valuesJson: ["", "true"] },
  ];
  const row = (path: string, ofA: unknown, ofB: unknown, different: boolean) => ({
    path,
    values: { [a]: ofA, [b]: ofB },
    reference_run_id: b,
    reference: ofB,
    different,
  });
  const { body, text } = answerOf(blocks, b);
  expect(body).toMatchObject({ reference_run_id: b, truncated: false, runs: [{ id: a }, { id: b }] });
  expect(body.rows).toEqual([
    row("config/a", 1, null, true),
    row('config/"b', { x: [1] }, { x: [1] }, false),
    row("metric/loss/latest", null, 0.5, true),
    row("tag/t", null, true, true),
  ]);
  expect(text).toContain(`"values":{"${a}":{"x":[1.0]},"${b}":{"x":[1]}}`);
});

test("documents keep their digits, numbers are written as numbers", () => {
  const numbers = [0, -0, 1e21, 5e-324, 0.1, -1.5];
  const { text, body } = answerOf([
    { paths: ["config/seed"], different: [true], valuesJson: ["12345678901234567890", "1.0"] },
    { paths: ["m1", "m2", "m3"], different: [false, true, true], numbers },
  ]);
  expect(text).toContain(`"${a}":12345678901234567890,"${b}":1.0}`);
  expect(body.rows.slice(1)).toMatchObject([
    { values: { [a]: 0, [b]: 0 } },
    { values: { [a]: 1e21, [b]: 5e-324 } },
    { values: { [a]: 0.1, [b]: -1.5 } },
  ]);
});

test("no rows are an empty list, and a cut comparison says so", () => {
  expect(answerOf([]).body.rows).toEqual([]);
  const cut = create(CompareRunsResponseSchema, { runs: [runOf(a)], referenceRunId: a, truncated: true });
  expect(JSON.parse(writeJson(encodeCompareRuns(cut).body))).toMatchObject({ rows: [], truncated: true });
});
