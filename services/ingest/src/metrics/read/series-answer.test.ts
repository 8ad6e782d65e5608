import { expect, test, describe } from "@jest/globals";
import { shareSeriesBudget, isKnownTag, readTag } from "./series-answer.rules.ts";

test.each([
  ["one run gets what it asks for", 1, 1000, undefined, { limit: 1000, buckets: undefined }],
  ["a limit above the largest counts as it", 1, 10_000, undefined, { limit: 5000, buckets: undefined }],
  ["24 runs have the largest limit", 24, 5000, undefined, { limit: 5000, buckets: undefined }],
  ["25 runs share the bound", 25, 5000, undefined, { limit: 4800, buckets: undefined }],
  ["a share is rounded down", 7, 5000, 4096, { limit: 5000, buckets: 4096 }],
  ["2,000 runs have 60 points or 15 buckets each", 2000, 1000, 512, { limit: 60, buckets: 15 }],
  ["fewer buckets than the share stay as they are", 2000, 1, 3, { limit: 1, buckets: 3 }],
  ["1,999 runs have 60 points or 15 buckets each", 1999, 5000, 4096, { limit: 60, buckets: 15 }],
])("%s", (_, runCount, limit, buckets, wanted) => {
  expect(shareSeriesBudget(runCount, limit, buckets)).toMatchObject(wanted);
});

test("a series is whole while it has at most four points per bucket", () => {
  expect(shareSeriesBudget(1, 10, 100).unsampledMax).toBe(400);
  expect(shareSeriesBudget(2000, 10, 100).unsampledMax).toBe(60);
});

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
