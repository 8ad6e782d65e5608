import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CompareRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { turnsDuring } from "@tidemark/testkit";
import { writeJson } from "../../http/json.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCompareRuns, encodeCompareRuns } from "./compare.ts";

const idOf = (n: number): string => `5b0c0000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [a, b] = [idOf(1), idOf(2)];
const decode = (query: Readonly<Record<string, string>>) => decodeCompareRuns(inputOf({ query }));
const both = { runIds: [a, b], referenceRunId: "", diffOnly: false };
const list = (count: number): string => Array.from({ length: count }, (_, i) => idOf(i)).join(",");

describe("GET /api/runs/side-by-side reads", () => {
  test.each([
    ["ids", { run_ids: `${a},${b}` }, both],
    ["ids by the other name", { runs: `${a},${b}` }, both],
    ["run_ids before runs", { run_ids: `${a},${b}`, runs: "x" }, both],
    ["blanks between commas not at all", { run_ids: `, ${a} ,,${b}, ` }, both],
    ["repeated ids once, where they stood first", { run_ids: `${a},${b},${a.toUpperCase()}` }, both],
    ["an id in capitals", { run_ids: `${a.toUpperCase()},${b}` }, both],
    ["a reference", { run_ids: `${a},${b}`, reference_run_id: b.toUpperCase() }, { ...both, referenceRunId: b }],
    ["a reference that is not an id as none", { run_ids: `${a},${b}`, reference_run_id: "first" }, both],
    ["diff_only", { run_ids: `${a},${b}`, diff_only: "true" }, { ...both, diffOnly: true }],
    ["any other diff_only as not", { run_ids: `${a},${b}`, diff_only: "TRUE" }, both],
    ["1 as not", { run_ids: `${a},${b}`, diff_only: "1" }, both],
  ])("%s", (_, query, expected) => expect(decode(query)).toEqual(expected));

  test("50 ids, also when some are named again", async () => {
    expect(decode({ run_ids: `${list(50)},${list(50)}` }).runIds).toHaveLength(50);
  });
});

describe("GET /api/runs/side-by-side refuses", () => {
  test.each([
    ["no ids", {}, "run_ids"],
    ["blank ids", { run_ids: " , ," }, "run_ids"],
    ["blank ids, though there are runs", { run_ids: ",", runs: a }, "run_ids"],
    ["an invalid id", { run_ids: `${a},x` }, "run_ids"],
    ["an id without hyphens", { run_ids: a.replaceAll("-", "") }, "run_ids"],
    ["the nil id", { run_ids: "00000000-0000-0000-0000-000000000000" }, "run_ids"],
    ["an invalid id under the other name", { runs: "x" }, "runs"],
    ["51 ids", { run_ids: list(51) }, "run_ids"],
  ])("%s", (_, query, field) => {
    expect(() => decode(query)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});

const utf8 = new TextEncoder();
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

/** The answer as a client gets it, once as text and once parsed, after checking it against the route's schema. */
async function answerOf(blocks: MessageInitShape<typeof CompareRunsResponseSchema>["blocks"], referenceRunId = a) {
  const response = create(CompareRunsResponseSchema, { runs: [runOf(a), runOf(b)], referenceRunId, blocks });
  const reply = await encodeCompareRuns(response);
  const body = bodyOf(reply, "GET /api/runs/side-by-side") as { rows: unknown[] } & Record<string, unknown>;
  return { text: writeJson(reply.body), body };
}

test("rows name their values by run, and the reference's once more", async () => {
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
  const { body, text } = await answerOf(blocks, b);
  expect(body).toMatchObject({ reference_run_id: b, truncated: false, runs: [{ id: a }, { id: b }] });
  expect(body.rows).toEqual([
    row("config/a", 1, null, true),
    row('config/"b', { x: [1] }, { x: [1] }, false),
    row("metric/loss/latest", null, 0.5, true),
    row("tag/t", null, true, true),
  ]);
  expect(text).toContain(`"values":{"${a}":{"x":[1.0]},"${b}":{"x":[1]}}`);
});

test("documents keep their digits, numbers are written as numbers", async () => {
  const numbers = [0, -0, 1e21, 5e-324, 0.1, -1.5];
  const { text, body } = await answerOf([
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

test("no rows are an empty list, and a cut comparison says so", async () => {
  expect((await answerOf([])).body.rows).toEqual([]);
  const cut = create(CompareRunsResponseSchema, { runs: [runOf(a)], referenceRunId: a, truncated: true });
  expect(JSON.parse(writeJson((await encodeCompareRuns(cut)).body))).toMatchObject({ rows: [], truncated: true });
});

test("large documents are sent in pieces, while others have their turns", async () => {
  const config = `{"a":"${"é".repeat(400_000)}"}`;
  const runs = [a, b].map((id) => ({ ...runOf(id), configJson: utf8.encode(config) }));
  const blocks = [
    { paths: ["config/a"], different: [false], valuesJson: Array(2).fill(config) as string[] },
    {
      paths: Array.from({ length: 2000 }, (_, i) => `metric/m${i}/latest`),
      different: Array(2000).fill(true) as boolean[],
      numbers: Array.from({ length: 4000 }, (_, i) => i),
    },
  ];
  const response = create(CompareRunsResponseSchema, { runs, referenceRunId: a, blocks });
  const { stream } = await encodeCompareRuns(response);
  const { result: pieces, turns } = await turnsDuring(() => Array.fromAsync(stream!.pieces));
  expect(pieces.length).toBeGreaterThan(4);
  expect(turns).toBeGreaterThan(0);
  const body = JSON.parse(Buffer.concat(pieces).toString()) as { runs: { config: object }[]; rows: object[] };
  expect(body).toMatchObject({ reference_run_id: a, truncated: false });
  expect(body.runs.map((run) => run.config)).toEqual([JSON.parse(config), JSON.parse(config)]);
  expect(body.rows).toHaveLength(2001);
  expect(body.rows.at(-1)).toMatchObject({ path: "metric/m1999/latest", values: { [a]: 3998, [b]: 3999 } });
});
