import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import fc from "fast-check";
import { describeWith } from "../stack/describe-with.ts";
import type { Stack } from "../stack/attach.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

// The CSV of an export is for programs that are not ours.

const environment = await requirePython({
  requirements: join(import.meta.dirname, "openapi-requirements.txt"),
  leftOut: "whether Python reads exports as CSV",
});

type Row = Readonly<Record<string, string>>;

function readCsv(python: string, csv: string): Promise<Row[]> {
  const child = spawn(python, [join(import.meta.dirname, "read_export.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const answer = new Promise<Row[]>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output) as Row[]);
      else reject(new Error(`Python ended with ${code}`));
    });
  });
  child.stdin.end(csv);
  return answer;
}

const awkward = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(",", '"', "\n", "\r", "\t", " ", "=", "-", "@", "'", ";", "a", "é", "😀") }),
);

/** Returns the form of a text that Python should see. */
function guarded(text: string): string {
  return /^(?:[\t\r\n]|\s*[=+\-@])/.test(text) ? `'${text}` : text;
}

describeWith(environment)("an export as CSV", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await sharedStack("embedded", {});
  });

  test("is read by Python's csv module, with every text, number and document", async () => {
    const { api } = await stack.organization();
    const values = fc
      .sample(awkward, { numRuns: 500, seed: 20_261_122 })
      .map((value) => value.replaceAll("\0", "x").toWellFormed());
    const { id } = (await api.post("/runs", { name: 'a "quoted", =name', config: { text: values[0]! } })).json.run;
    const attributes = values.map((value, i) => ({ path: `p${i}`, type: "string_series", value, step: i }));
    const stored = (await api.post(`/api/runs/${id}/attributes`, { attributes })).json.attributes;
    await api.post(`/runs/${id}/metrics`, { metrics: { "a,b": -1e-7, "=c": 1e21 }, step: 0.5 });
    await api.post(`/api/runs/${id}/objects`, { key: "t", kind: "table", rows: [{ 'a\n"b': "x,\r\ny" }] });
    const json = (await api.get("/api/export")).json;
    const rows = await readCsv(environment!.python, (await api.get("/api/export?format=csv")).text);
    const ofType = (type: string): Row[] => rows.filter(({ record_type }) => record_type === type);
    const read = ofType("attribute");
    expect(read.slice(0, -1).map(({ value }) => value)).toEqual(values.map(guarded));
    expect(read.slice(0, -1).map((row) => JSON.parse(row["json"]!))).toEqual(stored);
    expect(read.every(({ run_name, run_id }) => run_name === 'a "quoted", =name' && run_id === id)).toBe(true);
    expect(ofType("metric").map(({ key, value, step }) => [key, Number(value), Number(step)])).toEqual([
      ["'=c", 1e21, 0.5],
      ["a,b", -1e-7, 0.5],
    ]);
    const lists = ["organizations", "projects", "runs", "metric_series", "metrics", "attributes", "artifacts"];
    expect(rows.map((row) => JSON.parse(row["json"]!))).toEqual(
      [...lists, "table_object_rows"].flatMap((list) => json[list]),
    );
  });
});
