import { describe, expect, test } from "@jest/globals";
import {
  drawReads,
  judgeReads,
  schemaObjects,
  type SchemaModule,
  type ServiceFile,
  namesInModule,
  namesInSql,
} from "./schema-reads.ts";

const runsSchema: ServiceFile = {
  path: "services/runs/src/store/schema.sql",
  text: `CREATE SCHEMA runs;
CREATE TABLE runs.runs (
  id uuid
);
CREATE VIEW runs.refs_v1 AS
 SELECT id FROM runs.runs;
CREATE FUNCTION runs.lock_v1(run uuid)
CREATE VIEW runs.refs AS
`,
};

/** The faults of a service `reader` that declares these names, next to a service `runs`. */
function faultsOf(reads: readonly string[], files: Readonly<Record<string, string>>): readonly string[] {
  const modules: readonly SchemaModule[] = [
    { name: "runs", folder: "services/runs", schema: "runs", reads: [] },
    { name: "reader", folder: "services/reader", schema: "reader", reads },
    { name: "reader-2", folder: "services/reader", schema: "reader", reads: [] },
  ];
  const sources = Object.entries(files).map(([path, text]) => ({ path: `services/reader/src/${path}`, text }));
  return judgeReads(modules, [runsSchema, ...sources]).map(({ file, line, text }) => `${file}:${line} ${text}`);
}

describe("a name of another service's schema is refused:", () => {
  const undeclared = (at: string, name: string): string =>
    `services/reader/src/${at} reads ${name}, which the module does not declare in \`reads\``;

  test.each([
    ["in TypeScript", "a.ts", "\nconst a = `SELECT * FROM runs.refs_v1`;", undeclared("a.ts:2", "runs.refs_v1")],
    ["a table", "b/c.sql.ts", "sql('a', 'SELECT * FROM runs.runs')", undeclared("b/c.sql.ts:1", "runs.runs")],
    [
      "in a migration",
      "store/migrations/0001_a.sql",
      "SELECT runs.lock_v1(NULL)",
      undeclared("store/migrations/0001_a.sql:1", "runs.lock_v1"),
    ],
    ["in schema.sql", "store/schema.sql", "FROM runs.refs_v1", undeclared("store/schema.sql:1", "runs.refs_v1")],
    [
      "put together by code",
      "a.ts",
      "const a = (t) => `SELECT * FROM runs.${t}`;",
      "services/reader/src/a.ts:1 puts a name together that begins with runs.; write names of other schemas in full",
    ],
  ])("%s, not declared", (_what, path, text, fault) => {
    expect(faultsOf([], { [path]: text })).toEqual([fault]);
  });

  test.each([
    ["a table", "runs.runs", "which is not a view or function with a version (_v1)"],
    ["a view without a version", "runs.refs", "which is not a view or function with a version (_v1)"],
    ["what is not there", "runs.gone_v1", "which does not exist"],
    ["what nothing names", "runs.lock_v1", "which its SQL does not name"],
    ["its own", "reader.things_v1", "which is not of another service's schema"],
    ["what all services share", "platform.org_id", "which is not of another service's schema"],
  ])("declared, but %s", (_what, name, fault) => {
    const module = `\nexport const reader = defineModule({ reads: ["${name}"] });`;
    const used = "const a = `SELECT * FROM runs.runs, runs.refs, runs.gone_v1, reader.things_v1, platform.org_id()`;";
    const faults = faultsOf([name], { "module.ts": module, ...(name === "runs.lock_v1" ? {} : { "a.ts": used }) });
    expect(faults).toContain(`services/reader/src/module.ts:2 declares ${name}, ${fault}`);
  });
});

describe("a name of another service's schema is accepted:", () => {
  const declared = { "module.ts": `defineModule({ reads: ["runs.refs_v1", "runs.lock_v1"] })` };
  const names = ["runs.refs_v1", "runs.lock_v1"];

  test("a view and a function that a module of the service declares", () => {
    const text = "sql('a', `SELECT runs.lock_v1(id) FROM runs.refs_v1`)";
    expect(faultsOf(names, { ...declared, "a.ts": text })).toEqual([]);
  });

  test("one that only the schema itself names, in a function or view", () => {
    const text = "CREATE VIEW reader.all AS SELECT runs.lock_v1(id) FROM runs.refs_v1;";
    expect(faultsOf(names, { ...declared, "store/schema.sql": text })).toEqual([]);
  });

  test("anything in tests and in what tests share", () => {
    const text = "sql('a', `INSERT INTO runs.runs SELECT ${a}`)";
    expect(faultsOf([], { "a.test.ts": text, "a.fixture.ts": text, "test/seed.ts": text })).toEqual([]);
  });

  test("one that a migration knew before it was dropped", () => {
    expect(faultsOf([], { "store/migrations/0001_a.sql": "SELECT FROM runs.old_v1" })).toEqual([]);
  });
});

test("tests do not count as a use", () => {
  const files = { "module.ts": `defineModule({ reads: ["runs.refs_v1"] })`, "a.test.ts": "`SELECT FROM runs.refs_v1`" };
  expect(faultsOf(["runs.refs_v1"], files)).toEqual([
    "services/reader/src/module.ts:1 declares runs.refs_v1, which its SQL does not name",
  ]);
});

test("the table has a row for each name and its readers", () => {
  const modules: readonly SchemaModule[] = [
    { name: "b", folder: "services/b", schema: "b", reads: ["runs.refs_v1", "runs.lock_v1"] },
    { name: "b-2", folder: "services/b", schema: "b", reads: ["runs.refs_v1"] },
  ];
  expect(drawReads(modules, schemaObjects([runsSchema])).split("\n")).toEqual([
    "| view or function          | read by    |",
    "| ------------------------- | ---------- |",
    "| `runs.lock_v1` (function) | `b`        |",
    "| `runs.refs_v1`            | `b`, `b-2` |",
  ]);
});

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
