import { describe, expect, test } from "@jest/globals";
import type { ArchiveLine, LineOf } from "@tidemark/archive";
import { OBJECT_KINDS } from "@tidemark/limits";
import { checkObjects } from "./check-objects.rules.ts";

const object: LineOf<"object"> = {
  line: "object",
  id: 1,
  run_id: "0198a8a0-0000-7000-8000-000000000001",
  key: "a",
  kind: "table",
  step: undefined,
  artifact_id: undefined,
  value: "null",
  metadata: "{}",
  summary: '{"row_count":1,"columns":["a"]}',
  created_at: "2026-01-01T00:00:00Z",
};
const rowsOf = (...rows: string[]): ArchiveLine => ({ line: "object.rows", id: 1, rows });
const rowOfColumns = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, 1])));
const textOf = (bytes: number): string => JSON.stringify({ a: "x".repeat(bytes - 8) });

describe("a line of objects", () => {
  test.each(OBJECT_KINDS)("of the kind %s passes", (kind) => {
    expect(() => checkObjects({ ...object, kind })).not.toThrow();
  });

  test("with the largest rows passes", () => {
    expect(() => checkObjects(rowsOf("{}", rowOfColumns(128), textOf(16_384)))).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown kind", { ...object, kind: "text" }],
    ["no key", { ...object, key: "" }],
    ["a negative step", { ...object, step: -1 }],
    ["a day that there is not", { ...object, created_at: "2026-02-30T00:00:00Z" }],
    ["a value that is too long", { ...object, value: textOf(65_537) }],
    ["a value that is not JSON", { ...object, value: "x" }],
    ["metadata that are too long", { ...object, metadata: textOf(16_385) }],
    ["a summary that is not an object", { ...object, summary: "1" }],
    ["a row that is not an object", rowsOf("{}", "[]")],
    ["a row of 129 columns", rowsOf(rowOfColumns(129))],
    ["a row of 16,385 bytes", rowsOf(textOf(16_385))],
    ["a column that cannot be stored", rowsOf(String.raw`{"a\u0000":1}`)],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkObjects(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});
