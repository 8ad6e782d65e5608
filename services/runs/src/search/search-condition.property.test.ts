import { METRIC_FIGURES } from "@tidemark/values/run-search";
import fc from "fast-check";
import { expect, test } from "@jest/globals";
import { searchCondition, type PlainTree } from "./search-condition.sql.ts";
import { parameters } from "../read/runs.sql.ts";

// runs.found_runs has the rights of its owner and compares the organization itself. It is not a security barrier, because PostgreSQL would then use
// none of its indexes for LIKE: a condition may be computed on a row of another organization before that row is dropped. So a condition may contain nothing
// that reveals what it has seen: only these operators, none of which raises an error that depends on the row.
const FILTER =
  /EXISTS \(SELECT FROM \(SELECT [^$]*(?:\$1|\$\d+|[^$])*?OFFSET 0\) v WHERE v\.num (?:<> 'NaN' AND v\.num (?:[<>]=?|=|<>) \$\d+::float8|<> 'NaN' AND \(v\.num, v\.txt\) (?:[<>]=?|=|<>) \(SELECT c\.num, c\.txt COLLATE "C" FROM runs\.comparable\(to_json\(\$\d+::numeric\)\) c\)|= 'NaN' AND v\.txt (?:[<>]=?|=|<>) \$\d+ COLLATE "C")\)/g;
const TOKEN =
  /t\.(?:tags @> ARRAY\[\$\d+::text\]|display_status = \$\d+|project_id = ANY \(\$\d+::uuid\[\]\)|(?:summary|notes|config|metadata|name) LIKE \$\d+|irregular AND t\.org_id = \$1|run_id BETWEEN \$\d+::uuid AND \$\d+::uuid)|NOT|AND|OR|true|false|[() ]/g;

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("'", "';--", "$1", "%", "\\", "t.name", ") OR (true", "::int", "t.name::int = 1"),
);
const { tree } = fc.letrec<{ tree: PlainTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.record({
      kind: fc.constant("text" as const),
      field: fc.constantFrom("all" as const, "name" as const, "notes" as const, "config" as const, "metadata" as const),
      text: anyText,
    }),
    fc.record({ kind: fc.constant("tag" as const), tag: anyText }),
    fc.record({ kind: fc.constant("status" as const), status: fc.constantFrom("running", "finished") }),
    fc.record({
      kind: fc.constant("id" as const),
      prefix: fc.oneof(anyText, fc.constantFrom("", "0a", "0a1b2c3d-00")),
    }),
    fc.record({ kind: fc.constant("projects" as const), ids: fc.array(fc.uuid(), { maxLength: 3 }) }),
    fc.record({
      kind: fc.constant("holds" as const),
      column: fc.constantFrom("summary" as const, "notes" as const, "config" as const, "metadata" as const),
      text: anyText,
    }),
    fc.constant({ kind: "irregular" as const }),
    fc.record({
      kind: fc.constant("filter" as const),
      column: fc.oneof(
        fc.record({ kind: fc.constantFrom("config" as const, "attributes" as const), path: anyText }),
        fc.record({ kind: fc.constant("metrics" as const), key: anyText, figure: fc.constantFrom(...METRIC_FIGURES) }),
      ),
      comparison: fc.constantFrom("<", "<=", ">", ">=", "=", "!=" as const),
      operand: fc.oneof(fc.record({ digits: anyText }), fc.double(), anyText),
    }),
    fc.record({ kind: fc.constant("not" as const), node: tie("tree") }),
    fc.record({ kind: fc.constantFrom("and" as const, "or" as const), nodes: fc.array(tie("tree"), { maxLength: 4 }) }),
  ) as fc.Arbitrary<PlainTree>,
}));

test("for any search, a condition consists of fixed operators, and texts are parameters", () => {
  fc.assert(
    fc.property(tree, (searched) => {
      const { values, bind } = parameters("0a1b2c3d-0000-4000-8000-000000000001");
      const condition = searchCondition(searched, bind);
      expect(condition.replaceAll(FILTER, "").replaceAll(TOKEN, "")).toBe("");
      const places = [...condition.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
      expect(places.every((place) => place >= 1 && place <= values.length)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("no pattern can end in the middle of an escape, the one fault that LIKE has", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const { values, bind } = parameters("0a1b2c3d-0000-4000-8000-000000000001");
      searchCondition({ kind: "holds", column: "notes", text }, bind);
      expect(String(values[1])).toMatch(/^%(?:[^\\%_]|\\[\\%_])*%$/su);
    }),
  );
});
