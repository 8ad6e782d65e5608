import { expect, test } from "@jest/globals";
import { judgeRows } from "./describe-statements.ts";

const member = { name: "a", kinds: ["string"], isOptional: false, isNullable: false };
const column = { name: "a", kind: "string", nullableAs: undefined };

test.each([
  ["the same name and type", "", column, member, []],
  ["another name", "", { ...column, name: "b" }, member, ["a is not returned"]],
  ["another name of an optional member", "", { ...column, name: "b" }, { ...member, isOptional: true }, []],
  ["another type", "", { ...column, kind: "number" }, member, ["a is number, not string"]],
  ["one of two types", "", column, { ...member, kinds: ["number", "string"] }, ["a is string, not number or string"]],
  ["only NULL", "", { ...column, kind: "bytes" }, { ...member, kinds: [], isNullable: true }, []],
  ["a column that may be NULL", "SELECT t.a", { ...column, nullableAs: "a" }, member, ["a may be NULL"]],
  ["one where the type says so", "SELECT t.a", { ...column, nullableAs: "a" }, { ...member, isNullable: true }, []],
  ["one that the statement tests", "WHERE t.a IS NOT NULL", { ...column, nullableAs: "a" }, member, []],
  ["one that the statement sets", "SET a = now()", { ...column, nullableAs: "a" }, member, []],
  ["one that is compared, of another name", "SET data = 1", { ...column, nullableAs: "a" }, member, ["a may be NULL"]],
])("%s", (_what, text, returned, wanted, faults) => {
  expect(judgeRows(text, [returned], [wanted])).toEqual(faults);
});
