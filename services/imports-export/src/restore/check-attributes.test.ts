import { describe, expect, test } from "@jest/globals";
import type { ArchiveLine, LineOf } from "@tidemark/archive";
import { ATTRIBUTE_TYPES } from "@tidemark/limits";
import { checkAttributes } from "./check-objects.rules.ts";

const attribute: LineOf<"attribute"> = {
  line: "attribute",
  id: 1,
  run_id: "0198a8a0-0000-7000-8000-000000000001",
  path: "é".repeat(256),
  attribute_type: "config",
  step: 0,
  logged_at: "2026-01-01T00:00:00Z",
  value: "12345678901234567890.0",
  summary: "{}",
  created_at: "2026-01-01T00:00:00Z",
  artifact_id: undefined,
};

describe("a line of an attribute", () => {
  test.each(ATTRIBUTE_TYPES)("of the type %s passes", (attribute_type) => {
    expect(() => checkAttributes({ ...attribute, attribute_type })).not.toThrow();
  });

  const wrong: [string, ArchiveLine][] = [
    ["an unknown type", { ...attribute, attribute_type: "table" }],
    ["no path", { ...attribute, path: "" }],
    ["a path of 513 bytes", { ...attribute, path: `${attribute.path}x` }],
    ["a path that cannot be stored", { ...attribute, path: "a\0" }],
    ["a negative step", { ...attribute, step: -1 }],
    ["a day that there is not", { ...attribute, logged_at: "2026-02-30T00:00:00Z" }],
    ["the year 0", { ...attribute, created_at: "0000-01-01T00:00:00Z" }],
    ["a value that is not JSON", { ...attribute, value: "{" }],
    ["a summary that is not an object", { ...attribute, summary: "[]" }],
  ];
  test.each(wrong)("with %s does not", (_, line) => {
    expect(() => checkAttributes(line)).toThrow(expect.objectContaining({ reason: "bad_request" }));
  });
});
