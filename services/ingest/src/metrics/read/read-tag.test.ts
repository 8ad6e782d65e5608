import { describe, expect, test } from "@jest/globals";
import { isKnownTag, readTag } from "./read-tag.rules.ts";

describe("the tag of an answer", () => {
  const question = ["points", "run", "loss", undefined, 5, 100];
  const tag = readTag(question, [7]);

  test("is the same for the same question about the same points", () => {
    expect(readTag([...question], [7])).toBe(tag);
  });

  test("is short URL-safe text", () => {
    expect(tag).toMatch(/^[\w-]{20}$/);
  });

  test.each([
    ["a run got points", question, [8]],
    ["there are more runs", question, [7, 0]],
    ["a bound is another", ["points", "run", "loss", 5, undefined, 100], [7]],
    ["a bound is 0 and not absent", ["points", "run", "loss", 0, 5, 100], [7]],
    ["the limit is another", ["points", "run", "loss", undefined, 5, 101], [7]],
    ["the key is another", ["points", "run", "acc", undefined, 5, 100], [7]],
    ["a list is cut elsewhere", ["points", ["run", "loss"], undefined, 5, 100], [7]],
  ])("is another one when %s", (_, asked, versions) => {
    expect(readTag(asked, versions)).not.toBe(tag);
  });
});

test.each([
  [["a"], true],
  [["b", "a"], true],
  [["*"], true],
  [["b"], false],
  [[], false],
])("of the known tags %j the answer with the tag a is one: %j", (known, expected) => {
  expect(isKnownTag("a", known)).toBe(expected);
});
