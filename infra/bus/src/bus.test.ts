import { expect, test } from "@jest/globals";
import { subjectMatches } from "./bus.ts";

test.each([
  ["tidemark.a.v1", "tidemark.a.v1", true],
  ["tidemark.a.v1", "tidemark.a.v2", false],
  ["tidemark.a", "tidemark.a.v1", false],
  ["tidemark.a.v1", "tidemark.a", false],
  ["tidemark.*.v1", "tidemark.a.v1", true],
  ["tidemark.*.v1", "tidemark.a.b.v1", false],
  ["tidemark.*", "tidemark", false],
  ["tidemark.>", "tidemark.a", true],
  ["tidemark.>", "tidemark.a.b.v1", true],
  ["tidemark.a.>", "tidemark.a", false],
  ["tidemark.a.>", "tidemark.b.c", false],
])("the pattern %s and the subject %s: %s", (pattern, subject, expected) => {
  expect(subjectMatches(pattern, subject)).toBe(expected);
});
