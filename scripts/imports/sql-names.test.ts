import { expect, test } from "@jest/globals";
import { namesInModule, namesInSql } from "./sql-names.ts";

const schemas = ["runs", "ingest"];

test("names of the given schemas are found in SQL with their lines, comments aside", () => {
  const text = `-- as runs.old does
SELECT r.id FROM runs.run_refs_v1 r -- not ingest.metrics
JOIN platform.outbox o USING (id), ingest.keys_of(r.id);`;
  expect(namesInSql(text, schemas)).toEqual([
    { name: "runs.run_refs_v1", whole: true, line: 2 },
    { name: "ingest.keys_of", whole: true, line: 3 },
  ]);
});

test.each([
  ["a longer name", "my_runs.table"],
  ["a column of a table of that name", "x.runs.id"],
  ["a path", "store/runs.ts"],
  ["a role", "tidemark-runs.reader"],
  ["a sentence", "counts runs. Then"],
])("%s is not a name: %s", (_what, text) => {
  expect(namesInSql(text, schemas)).toEqual([]);
});

test("names are found in literals of a module and nowhere else", () => {
  const text = `import { a } from "./runs.ts";
// runs.comment
const one = runs.map((run) => run.id);
const two = sql("name", \`
  SELECT 1 FROM runs.runs r
  JOIN \${view} v ON true, ingest.metrics\`);
const three = 'SELECT ingest.keys()';`;
  expect(namesInModule("a.ts", text, schemas)).toEqual([
    { name: "runs.runs", whole: true, line: 5 },
    { name: "ingest.metrics", whole: true, line: 6 },
    { name: "ingest.keys", whole: true, line: 7 },
  ]);
});

test("a list called reads declares names and uses none", () => {
  const text = `const reads = ["runs.a_v1"]; defineModule({ reads: ["runs.b_v1"], text: "runs.c_v1", reads2: ["runs.d_v1"] });`;
  expect(namesInModule("module.ts", text, schemas).map(({ name }) => name)).toEqual(["runs.c_v1", "runs.d_v1"]);
});

test("of a name that a template puts together only the beginning is known", () => {
  const text = "const a = `SELECT * FROM ingest.${table} t, runs.runs_${n}`; const b = `ends with runs.`;";
  expect(namesInModule("a.ts", text, schemas)).toEqual([
    { name: "ingest.", whole: false, line: 1 },
    { name: "runs.runs_", whole: false, line: 1 },
  ]);
});
