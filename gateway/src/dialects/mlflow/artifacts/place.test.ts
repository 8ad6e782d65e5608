import { describe, expect, test } from "@jest/globals";
import { readPlace, requirePath } from "./place.rules.ts";

const hex = "0123456789abcdef0123456789abcdef";
const uuid = "01234567-89ab-cdef-0123-456789abcdef";

test("a path leads to a run or a model, and into it", () => {
  expect(readPlace(`2/${hex}/artifacts/a b/é.txt`)).toEqual({
    experimentId: "2",
    owner: { kind: "run", id: uuid },
    path: "a b/é.txt",
  });
  expect(readPlace(`0/models/m-${hex}/artifacts`)).toEqual({
    experimentId: "0",
    owner: { kind: "model", id: uuid },
    path: "",
  });
});

test.each([
  "2",
  `2/${hex}`,
  `2/${hex}/files/a`,
  `2/x/artifacts/a`,
  `2/models/${hex}/artifacts/a`,
  `2/traces/tr-${hex}/artifacts/a`,
  `${hex}/artifacts/a`,
])("another root is not found: %s", (path) => {
  expect(() => readPlace(path)).toThrow(expect.objectContaining({ reason: "not_found" }));
});

describe("a path", () => {
  test.each([
    "",
    "a//b",
    "/a",
    "a/",
    "..",
    "a/../b",
    "a/.",
    "a\\b",
    "%2e%2e/a",
    "a%2F%2Fb",
    "%252e%252e%252fa",
    "a%255cb",
    "%2525252525252525252561",
  ])("is refused: %s", (path) => {
    expect(() => requirePath(path)).toThrow(expect.objectContaining({ reason: "bad_request", field: "path" }));
  });

  test.each(["a", "a/b.c", "..a/...", "100%", "a%20b", "%zz", "日本/é"])("is taken as it is: %s", (path) => {
    expect(requirePath(path)).toBe(path);
  });
});
